import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';

export enum PricingModel {
  FREE = 'free',
  SUBSCRIPTION = 'subscription',
}
registerEnumType(PricingModel, { name: 'PricingModel' });

export enum BillingInterval {
  MONTH = 'month',
  YEAR = 'year',
}
registerEnumType(BillingInterval, { name: 'BillingInterval' });

/** Kept as one JSON value, named as publishers write it. */
@ObjectType({ description: 'What an extension costs.' })
export class Pricing {
  @Field(() => PricingModel)
  model!: PricingModel;

  @Field(() => Int, { description: 'Minor units (cents) per interval; 0 when free.' })
  amount!: number;

  @Field(() => String, { nullable: true, description: 'ISO 4217; null when free.' })
  currency!: string | null;

  @Field(() => BillingInterval, { nullable: true, description: 'Null when free.' })
  interval!: BillingInterval | null;

  // Not simple: its names differ, and graphql-js by itself reads a field by its own name.
  @Field(() => Int, { name: 'trialDays', simple: false })
  trial_days!: number;

  @Field(() => Boolean, { description: 'Whether a subscription can be paused.' })
  pausable!: boolean;
}
