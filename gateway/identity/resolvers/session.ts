import { Arg, Ctx, Field, GraphQLISODateTime, ID, Int, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import { changePassword } from '../operations/change-password.ts';
import type { ChangePasswordReceipt } from '../operations/change-password.ts';
import { confirmTotp } from '../operations/confirm-totp.ts';
import type { ConfirmTotpReceipt } from '../operations/confirm-totp.ts';
import { enrollTotp } from '../operations/enroll-totp.ts';
import type { EnrollTotpReceipt } from '../operations/enroll-totp.ts';
import { getSession } from '../operations/get-session.ts';
import type { CurrentSession } from '../operations/get-session.ts';
import { signIn } from '../operations/sign-in.ts';
import type { SignedInUser as SignedInUserShape, SignInReceipt } from '../operations/sign-in.ts';
import { signOut } from '../operations/sign-out.ts';
import type { SignOutReceipt } from '../operations/sign-out.ts';
import { stepUp } from '../operations/step-up.ts';
import type { StepUpReceipt } from '../operations/step-up.ts';

@ObjectType({ description: 'Who has signed in.' })
class SignedInUser implements SignedInUserShape {
  @Field(() => ID)
  id!: string;

  @Field(() => Int)
  numericId!: number;

  @Field(() => String)
  email!: string;

  @Field(() => String)
  name!: string;

  @Field(() => ID)
  organizationId!: string;

  @Field(() => String, { nullable: true, description: 'architect or sovereign.' })
  organizationRole!: string | null;
}

@ObjectType({ description: 'A new session. `token` is shown here and never again.' })
class NewSession implements SignInReceipt {
  @Field(() => ID)
  sessionId!: string;

  @Field(() => String)
  token!: string;

  @Field(() => GraphQLISODateTime)
  expiresAt!: string;

  @Field(() => Boolean, { description: 'The user has an authenticator; what needs a step-up will ask for its code.' })
  totpRequired!: boolean;

  @Field(() => SignedInUser)
  user!: SignedInUser;
}

@ObjectType({ description: 'The session that asks.' })
class Session implements CurrentSession {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Field(() => GraphQLISODateTime, { description: 'Moves on with use.' })
  expiresAt!: Date;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Until when the last code counts; null when none does.' })
  steppedUpUntil!: Date | null;

  @Field(() => Boolean)
  totpRequired!: boolean;

  @Field(() => SignedInUser)
  user!: SignedInUser;
}

@ObjectType()
class EndedSession implements SignOutReceipt {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  status!: 'ended';

  @Field(() => GraphQLISODateTime)
  endedAt!: string;
}

@ObjectType()
class StepUp implements StepUpReceipt {
  @Field(() => GraphQLISODateTime)
  steppedUpUntil!: string;
}

@ObjectType({ description: 'An authenticator to be confirmed by its first code. Shown here and never again.' })
class TotpEnrollment implements EnrollTotpReceipt {
  @Field(() => String, { description: 'What authenticator apps scan.' })
  otpauthUri!: string;

  @Field(() => String, { description: 'Base 32.' })
  secret!: string;

  @Field(() => [String], { description: 'Each is good once in place of a code.' })
  recoveryCodes!: string[];
}

@ObjectType()
class ConfirmedTotp implements ConfirmTotpReceipt {
  @Field(() => GraphQLISODateTime)
  confirmedAt!: string;

  @Field(() => GraphQLISODateTime)
  steppedUpUntil!: string;
}

@ObjectType()
class ChangedPassword implements ChangePasswordReceipt {
  @Field(() => GraphQLISODateTime)
  changedAt!: string;

  @Field(() => Int)
  sessionsEnded!: number;
}

@Resolver()
export class SessionResolver {
  @Query(() => Session)
  session(@Ctx() ctx: Context): Promise<Session> {
    return getSession(ctx, {});
  }

  @Mutation(() => NewSession)
  signIn(@Ctx() ctx: Context, @Arg('email', () => String) email: string, @Arg('password', () => String) password: string): Promise<NewSession> {
    return signIn(ctx, { email, password });
  }

  @Mutation(() => EndedSession)
  signOut(@Ctx() ctx: Context): Promise<EndedSession> {
    return signOut(ctx, {});
  }

  @Mutation(() => StepUp, { description: "Takes a code of the user's authenticator, or a recovery code; each counts once." })
  stepUp(@Ctx() ctx: Context, @Arg('code', () => String) code: string): Promise<StepUp> {
    return stepUp(ctx, { code });
  }

  @Mutation(() => TotpEnrollment)
  enrollTotp(@Ctx() ctx: Context): Promise<TotpEnrollment> {
    return enrollTotp(ctx, {});
  }

  @Mutation(() => ConfirmedTotp)
  confirmTotp(@Ctx() ctx: Context, @Arg('code', () => String) code: string): Promise<ConfirmedTotp> {
    return confirmTotp(ctx, { code });
  }

  @Mutation(() => ChangedPassword)
  changePassword(@Ctx() ctx: Context, @Arg('currentPassword', () => String) currentPassword: string, @Arg('newPassword', () => String) newPassword: string): Promise<ChangedPassword> {
    return changePassword(ctx, { currentPassword, newPassword });
  }
}
