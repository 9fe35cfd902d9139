import { DomainError } from './errors.ts';

/** From each state, the states it may move to. */
export type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>;

/** The one function that consults a state table. */
export function checkTransition<State extends string>(transitions: Transitions<State>, what: string, from: State, to: State): void {
  if (transitions[from].includes(to)) return;
  throw new DomainError('invalid_transition', `A ${what} that is ${from} cannot become ${to}.`);
}
