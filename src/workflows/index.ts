export { trial } from './trial.ts';
