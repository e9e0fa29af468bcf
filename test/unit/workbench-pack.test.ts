import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EnvironmentDefinitionError, isEnvironment, ToolFailure } from '../../src/environments/define.ts';
import { dateTime } from '../../src/environments/workbench/arguments.ts';
import workbench from '../../src/environments/workbench/pack.ts';
import { toPostgresPattern } from '../../src/environments/workbench/patterns.ts';

describe('options of the pack', () => {
  let data: string;

  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'trialbed-workbench-'));
    await writeFile(join(data, 'email_addresses.csv'), 'ada@atlas.com\n');
    await writeFile(join(data, 'emails.csv'), 'email_id,inbox/outbox,sender/recipient,subject,sent_datetime,body\n');
    await writeFile(join(data, 'project_tasks.csv'), 'task_id,task_name,assigned_to_email,list_name,due_date,board\n');
  });

  afterEach(async () => {
    await rm(data, { recursive: true, force: true });
  });

  it('choose the parts of the world; the directory is always there', () => {
    const environment = workbench({ data, domains: ['project_management'] });
    expect(isEnvironment(environment)).toBe(true);
    expect(environment.tools.map((tool) => tool.name)).toEqual([
      'company_directory.find_email_address',
      'project_management.get_task_information_by_id',
      'project_management.search_tasks',
      'project_management.create_task',
      'project_management.delete_task',
      'project_management.update_task',
    ]);
    expect(environment.seed.map((seed) => ('table' in seed ? seed.table : null))).toEqual(['directory', 'project_tasks']);
  });

  it('name the data where it lies', async () => {
    const moved = join(data, 'moved');
    await mkdir(moved);
    for (const file of ['email_addresses.csv', 'emails.csv']) await cp(join(data, file), join(moved, file));
    expect(workbench({ data: moved, domains: ['email'] }).seed).toEqual([
      { csv: join(moved, 'email_addresses.csv'), table: 'directory', header: ['address'] },
      { csv: join(moved, 'emails.csv'), table: 'emails' },
    ]);
  });

  it.each([
    ['no data', () => ({}), /option data/],
    ['a relative folder', () => ({ data: './data' }), /is not absolute; in suite\.yaml a path that starts with/],
    ['a folder that is not there', () => ({ data: join(data, 'nowhere') }), /nowhere does not exist/],
    ['an unknown domain', () => ({ data, domains: ['emial'] }), /option domains\.0: .*"email"/],
    ['an unknown option', () => ({ data, domain: 'email' }), /Unrecognized key: "domain"/],
    ['a missing file', () => ({ data, domains: ['calendar'] }), /calendar_events\.csv does not exist/],
  ])('refuse %s', (_, options, message) => {
    expect(() => workbench(options())).toThrow(EnvironmentDefinitionError);
    expect(() => workbench(options())).toThrow(message);
  });

  it('refuse a file with other columns', async () => {
    await writeFile(join(data, 'emails.csv'), 'id,inbox,sender,subject,sent_datetime,body\n');
    expect(() => workbench({ data, domains: ['email'] })).toThrow(/has no column "email_id"/);
  });
});

describe('a date argument', () => {
  it.each([
    ['2023-11-30', '2023-11-30 00:00:00'],
    ['2023-11-30 09:30', '2023-11-30 09:30:00'],
    ['2023-11-30T09:30:15', '2023-11-30 09:30:15'],
    [' 2024-02-29 ', '2024-02-29 00:00:00'],
  ])('%s', (value, read) => {
    expect(dateTime(value)).toBe(read);
  });

  it.each(['2023-02-29', '2023-13-01', '2023-11-30 24:00', '09:30:00', 'previous friday', '2023-11-30T09:30:15Z', ''])('%s is refused', (value) => {
    expect(() => dateTime(value)).toThrow(ToolFailure);
  });
});

describe('a pattern of Python', () => {
  it.each([
    ['plain', 'plain'],
    ['\\bword\\b', '\\yword\\y'],
    ['\\Bin\\B', '\\Yin\\Y'],
    ['[\\b]', '[\\b]'],
    ['\\\\b', '\\\\b'],
    ['(a|b)\\d+$', '(a|b)\\d+$'],
  ])('%s', (pattern, read) => {
    expect(toPostgresPattern(pattern)).toBe(read);
  });

  it('does not take the switches of PostgreSQL', () => {
    expect(() => toPostgresPattern('***=a')).toThrow(ToolFailure);
  });
});
