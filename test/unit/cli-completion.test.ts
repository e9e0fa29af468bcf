import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import { TestHost } from './cli-support.ts';

async function script(shell: string): Promise<string> {
  const host = new TestHost();
  expect(await runCommandLine(['completion', shell], host)).toBe(0);
  return host.stdout;
}

/** What bash offers for a line, the cursor at its end. */
async function offered(...words: string[]): Promise<string[]> {
  const call = `COMP_WORDS=(${words.map((w) => `'${w}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _trialbed; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const out = execFileSync('bash', ['--norc', '-c', `${await script('bash')}\n${call}`], { encoding: 'utf8', cwd: '/' });
  return out.split('\n').filter((line) => line !== '');
}

test('bash completes commands, options and their values', async () => {
  expect(await offered('trialbed', 'r')).toEqual(expect.arrayContaining(['run', 'regrade']));
  expect(await offered('trialbed', 'run', 'support-desk', '--sh')).toEqual(['--shard']);
  expect(await offered('trialbed', 'run', '--keep', '')).toEqual(['never', 'failed', 'always']);
  expect(await offered('trialbed', 'run', '--faults', 'a')).toEqual(['all']);
  expect(await offered('trialbed', 'import', 'w')).toContain('workbench');
  expect(await offered('trialbed', 'import', 'workbench', '--dom')).toEqual(['--domains']);
  expect(await offered('trialbed', 'completion', 'f')).toContain('fish');
});

test('zsh and fish scripts name every command and escape their texts', async () => {
  const zsh = await script('zsh');
  expect(zsh).toMatch(/^#compdef trialbed\n/);
  expect(zsh).toContain('_trialbed_import_workbench()');
  expect(zsh).toContain("'*--keep[keep a snapshot of the world]:value:(never failed always)'");
  const fish = await script('fish');
  expect(fish).toContain("complete -c trialbed -n '__fish_seen_subcommand_from run' -l keep -x -a 'never failed always'");
  expect(fish).toContain("-l with -r -d 'option of the environment, over the suite'\\''s (repeatable; the value is JSON or text)'");
});
