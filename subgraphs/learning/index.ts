// type-graphql's decorators need it before the first of them runs.
import 'reflect-metadata';
import type { Subgraph } from '#platform/subgraph/subgraph.ts';
import { Course } from './entities/course.ts';
import { Enrollment } from './entities/enrollment.ts';
import { User } from './entities/user.ts';
import { learningExports } from './exports.ts';
import { learningMigration } from './migrations/0001-learning.ts';
import { listCourses } from './operations/list-courses.ts';
import { listEnrollments } from './operations/list-enrollments.ts';
import { loadUser } from './references.ts';
import { CourseResolver } from './resolvers/course.ts';
import { UserResolver } from './resolvers/user.ts';
import { seedLearning } from './seed.ts';

export const learning: Subgraph = {
  name: 'learning',
  entities: [Course, Enrollment],
  resolvers: [CourseResolver, UserResolver],
  orphanedTypes: [User],
  references: { User: loadUser },
  operations: [listCourses, listEnrollments],
  migrations: [learningMigration],
  exports: learningExports,
  seed: seedLearning,
  openPorts: async () => ({ close: async () => {} }),
  jobs: () => [],
};
