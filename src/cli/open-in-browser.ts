import { spawn } from 'node:child_process';
import { type Host, note } from './host.ts';

/** Opens an address, or a file, with what this system opens it with. A machine without such a program keeps what was printed. */
export function openInBrowser(host: Host, what: string, printed: 'link' | 'file'): void {
  const [program, ...args] = process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open'];
  const child = spawn(program ?? 'xdg-open', [...args, what], { stdio: 'ignore', detached: true });
  child.on('error', () => note(host, `no browser could be opened; use the ${printed}`));
  child.unref();
}
