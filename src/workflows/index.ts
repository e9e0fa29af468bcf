export { batch } from './batch.ts';
export { batchWindow } from './batch-window.ts';
export { night } from './night.ts';
export { trial } from './trial.ts';
