import { answerTasks } from '../embedder/worker-pool.ts';
import { buildSegment, mergeSegments, type Segment, type SegmentPart } from './segment.ts';

export type SegmentTask = { build: readonly { seq: number; content: string }[] } | { merge: readonly SegmentPart[] };

await answerTasks<SegmentTask, Segment>(async () => async (task) => ('build' in task ? buildSegment(task.build) : mergeSegments(task.merge)));
