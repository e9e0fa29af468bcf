/**
 * The official MCP conformance suite and the MCP inspector's command line against the gateway, in a trial of its own. Prints the tables of
 * `docs/mcp-conformance.md`, and ends with status 1 where a scenario fails without a reason that is known below, or in more checks than that explains.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type LentDoor, lendTrial } from './lent-trial.ts';
import { packageOnDemand } from './on-demand.ts';

const run = promisify(execFile);

const SUITES = [
  { version: '0.1.16', args: ['--suite', 'all'], of: 'the released suite, revisions 2025-06-18 and 2025-11-25' },
  { version: '0.2.0-alpha.12', args: ['--requirements', '2026-07-28'], of: 'the next suite, what revision 2026-07-28 requires' },
];
const INSPECTOR = '2.12.0';

/** Why a scenario cannot pass, and in how many checks where some of it can. The first that fits counts. */
const REASONS: readonly (readonly [scenario: RegExp, reason: string, checks?: number])[] = [
  [/^(prompts|resources|completion|logging)-/, 'not offered: the gateway declares tools and nothing else'],
  [/^caching$/, 'its parts on tools and discovery pass; prompts and resources are not offered', 3],
  [/^tasks-/, 'extension that is not offered, and not scored'],
  [/^input-required-result-/, "needs a fixture tool that asks the client for input; a trial's tools never do"],
  [/^(tools-call-(sampling|elicitation)|elicitation-)/, "needs a fixture tool that asks the client for input; a trial's tools never do"],
  [/^tools-call-/, "needs a fixture tool that returns images, sound or progress; a trial's tools return JSON"],
  [/^server-stateless$/, 'all but the two checks that need the fixture tool `test_missing_capability` pass', 2],
  [/^server-sse-polling$/, 'needs the fixture tool `test_reconnection`, and sessions: an answer that was lost is asked for again by its call id'],
  [/^json-schema-2020-12$/, 'needs the fixture tool `json_schema_2020_12_tool`'],
  [/^http-custom-header-server-validation$/, 'needs a fixture tool with `x-mcp-header`; not scored'],
  [/^server-session-lifecycle$/, 'the gateway keeps no sessions: a trial has its token'],
];

const { used, trial } = await lendTrial(async (door) => {
  const tables: string[] = [];
  let surprises = 0;
  for (const suite of SUITES) {
    const { lines, unexplained } = await conformance(door, suite);
    tables.push(`## Conformance ${suite.version}: ${suite.of}`, '', ...lines, '');
    surprises += unexplained;
  }
  const { lines, unexplained } = await inspector(door);
  tables.push(`## Inspector ${INSPECTOR}`, '', ...lines);
  return { tables, surprises: surprises + unexplained };
});
process.stdout.write(`${used.tables.join('\n')}\n`);
process.stderr.write(`The trial ended as ${trial?.ending} after ${trial?.calls} calls; ${used.surprises} surprises.\n`);
process.exitCode = used.surprises > 0 || trial?.ending !== 'completed' ? 1 : 0;

async function conformance(door: LentDoor, { version, args }: (typeof SUITES)[number]): Promise<{ lines: string[]; unexplained: number }> {
  const at = await packageOnDemand('@modelcontextprotocol/conformance', version);
  await using proxy = await startTokenProxy(door);
  const { output } = await ran([join(at, 'dist', 'index.js'), 'server', '--url', proxy.url, ...args]);
  const results = [...output.matchAll(/^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed/gm)];
  if (results.length === 0) throw new Error(`the suite ran no scenario: ${output.slice(-2_000)}`);
  let unexplained = 0;
  const rows = results.map(([, mark, name = '', passed, failed]) => {
    const [, reason, checks = Number.POSITIVE_INFINITY] = REASONS.find(([scenario]) => scenario.test(name)) ?? [];
    const pass = mark === '✓';
    if (!pass && (reason === undefined || Number(failed) > checks)) unexplained++;
    return `| \`${name}\` | ${pass ? 'pass' : 'fail'} | ${passed} | ${failed} | ${pass ? '' : (reason ?? 'NOT EXPLAINED')} |`;
  });
  return { lines: ['| scenario | result | checks passed | failed | why |', '|---|---|---|---|---|', ...rows], unexplained };
}

async function inspector({ mcp, token }: LentDoor): Promise<{ lines: string[]; unexplained: number }> {
  const at = await packageOnDemand('@modelcontextprotocol/inspector', INSPECTOR);
  const manifest = JSON.parse(await readFile(join(at, 'package.json'), 'utf8')) as { bin: { [name: string]: string } };
  const program = join(at, manifest.bin['mcp-inspector'] ?? '');
  const asked: readonly (readonly [args: string[], status: number, holds: string])[] = [
    [['--method', 'tools/list', '--strict'], 0, '"issue_refund"'],
    [['--method', 'tools/call', '--tool-name', 'get_order', '--tool-arg', 'order_id=5007'], 0, '"committed"'],
    // It ends with 5 where a tool says `isError`.
    [['--method', 'tools/call', '--tool-name', 'get_order', '--tool-arg', 'order_id=1'], 5, '"not_found"'],
  ];
  let unexplained = 0;
  const rows: string[] = [];
  for (const era of ['legacy', 'auto', 'modern']) {
    for (const [args, status, holds] of asked) {
      const own = ['--cli', mcp, '--transport', 'http', '--protocol-era', era, '--header', `Authorization: Bearer ${token}`];
      const { output, code } = await ran([program, ...own, ...args]);
      const pass = code === status && output.includes(holds);
      if (!pass) unexplained++;
      rows.push(`| ${era} | \`${args.join(' ')}\` | ${pass ? 'pass' : 'NOT AS EXPECTED'} | ${code} |`);
    }
  }
  return { lines: ['| era | asked | result | exit status |', '|---|---|---|---|', ...rows], unexplained };
}

async function ran(args: readonly string[]): Promise<{ readonly output: string; readonly code: number }> {
  try {
    const { stdout, stderr } = await run(process.execPath, [...args], { maxBuffer: 64 * 1024 * 1024, timeout: 300_000 });
    return { output: `${stdout}\n${stderr}`, code: 0 };
  } catch (error) {
    const { stdout = '', stderr = '', code } = error as { stdout?: string; stderr?: string; code?: unknown };
    if (typeof code !== 'number') throw error;
    return { output: `${stdout}\n${stderr}`, code };
  }
}

/** The suite sends no token of ours, so what is between adds it, and changes nothing else. */
async function startTokenProxy({ mcp, token }: LentDoor): Promise<{ readonly url: string } & AsyncDisposable> {
  const { hostname, port, pathname } = new URL(mcp);
  const server = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${token}` };
    const passed = request({ hostname, port, path: asked.url, method: asked.method, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
