import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { columnsOf, type Host } from './host.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit.ts';
import { reportFailure } from './failure.ts';
import { addAgreement } from './commands/agreement.ts';
import { addApprovals } from './commands/approvals.ts';
import { addAudit } from './commands/audit.ts';
import { addCancel, addConcurrency, addPause, addResume } from './commands/control.ts';
import { addApprove, addDeny } from './commands/decide.ts';
import { addConsole } from './commands/console.ts';
import { addCompare } from './commands/compare.ts';
import { addCompletion } from './commands/completion.ts';
import { addDoctor } from './commands/doctor.ts';
import { addDown } from './commands/down.ts';
import { addFork } from './commands/fork.ts';
import { addImport } from './commands/import.ts';
import { addInit } from './commands/init.ts';
import { addJudge } from './commands/judge.ts';
import { addLabel } from './commands/label.ts';
import { addKeys } from './commands/keys.ts';
import { addPin } from './commands/pin.ts';
import { addPs } from './commands/ps.ts';
import { addPurge } from './commands/purge.ts';
import { addContract } from './commands/contract.ts';
import { addRecord } from './commands/record.ts';
import { addRegrade } from './commands/regrade.ts';
import { addReplay } from './commands/replay.ts';
import { addReport } from './commands/report.ts';
import { addRequeue } from './commands/requeue.ts';
import { addReset } from './commands/reset.ts';
import { addRun } from './commands/run.ts';
import { addSchedule } from './commands/schedule.ts';
import { addSchema } from './commands/schema.ts';
import { addShow } from './commands/show.ts';
import { addSnapshot } from './commands/snapshot.ts';
import { addSweep } from './commands/sweep.ts';
import { addTrace } from './commands/trace.ts';
import { addUp } from './commands/up.ts';
import { addValidate } from './commands/validate.ts';
import { addWatch } from './commands/watch.ts';
import { addWhy } from './commands/why.ts';
import { addWorker } from './commands/worker.ts';

/** Runs one command line (without the names of node and script) and tells the exit code. Never throws. */
export async function runCommandLine(args: readonly string[], host: Host): Promise<number> {
  let exit: number = EXIT.ok;
  const context: CommandContext = {
    host,
    action:
      (work) =>
      async (...given) => {
        exit = await work(...given);
      },
  };
  try {
    await createProgram(context).parseAsync([...args], { from: 'user' });
    return exit;
  } catch (error) {
    // Help that was not asked for: the command line was incomplete. The help is the message.
    if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.usage;
    return await reportFailure(host, args, error);
  }
}

/** The tree of commands. */
function createProgram(context: CommandContext): Command {
  const { host } = context;
  const program = new Command('trialbed')
    .description('A test bed for agents that write to real systems: each trial is a durable workflow in a world of its own, graded by what really changed.')
    .version(version())
    .exitOverride()
    // A command that has others below it leaves them their options.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => host.out.write(text),
      writeErr: (text) => host.err.write(text),
      // Errors are printed by the one top-level handler.
      outputError: () => undefined,
      getOutHelpWidth: () => Math.min(HELP_COLUMNS, columnsOf(host.out)),
      getErrHelpWidth: () => Math.min(HELP_COLUMNS, columnsOf(host.err)),
      getOutHasColors: () => host.out.hasColors?.() === true,
      getErrHasColors: () => host.err.hasColors?.() === true,
    })
    .addHelpText('after', EXIT_CODES);
  program.commandsGroup('Run and read:');
  addRun(program, context);
  addReport(program, context);
  addShow(program, context);
  addTrace(program, context);
  addCompare(program, context);
  addReplay(program, context);
  addWatch(program, context);
  addPs(program, context);
  addWhy(program, context);
  addRequeue(program, context);
  addReset(program, context);
  addFork(program, context);
  addRegrade(program, context);
  program.commandsGroup('Steer a batch that runs:');
  addPause(program, context);
  addResume(program, context);
  addConcurrency(program, context);
  addCancel(program, context);
  program.commandsGroup('Decide:');
  addApprovals(program, context);
  addApprove(program, context);
  addDeny(program, context);
  addAudit(program, context);
  program.commandsGroup('Rate by a rubric:');
  addJudge(program, context);
  addLabel(program, context);
  addAgreement(program, context);
  program.commandsGroup('Write suites:');
  addInit(program, context);
  addValidate(program, context);
  addRecord(program, context);
  addContract(program, context);
  addPin(program, context);
  addSchema(program, context);
  addImport(program, context);
  program.commandsGroup('Operate:');
  addDoctor(program, context);
  addUp(program, context);
  addDown(program, context);
  addConsole(program, context);
  addWorker(program, context);
  addSchedule(program, context);
  addSweep(program, context);
  addSnapshot(program, context);
  addPurge(program, context);
  addKeys(program, context);
  addCompletion(program, context);
  program.helpCommand('help [command]', 'show help for a command');
  return program;
}

/** Help is not wider than this: long lines are hard to read. */
const HELP_COLUMNS = 110;

const EXIT_CODES = `
Exit codes:
  0    done; for run and validate: the gate was met
  1    done, and the gate was not met
  2    the command line, a file or the configuration is not valid
  3    infrastructure: a service is missing or was lost, or an error of trialbed itself
  130  interrupted by Ctrl-C (143: by SIGTERM); the same command goes on with the batch

Start here:
  $ trialbed doctor
  $ trialbed run support-desk --agent reference --agent hasty
  $ trialbed init my-suite`;

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}
