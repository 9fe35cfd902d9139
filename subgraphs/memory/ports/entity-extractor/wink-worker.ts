import { answerTasks } from '../embedder/worker-pool.ts';
import { loadEntities } from './wink-entities.ts';

await answerTasks<readonly string[], string[][]>(async () => {
  const entitiesOf = loadEntities();
  return async (contents) => contents.map(entitiesOf);
});
