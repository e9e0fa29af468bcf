import { readSettings } from '../worker/config.ts';
import type { CommonFlags, Host } from './host.ts';
import { placeOf } from './place.ts';

/** The folder of everything that is kept on this machine. @throws {ConfigError} */
export function homeOf(host: Host, flags: CommonFlags): string {
  return readSettings(host.env, placeOf(host, flags)).home;
}
