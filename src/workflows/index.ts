export { batch } from './batch.ts';
export { batchWindow } from './batch-window.ts';
export { trial } from './trial.ts';
