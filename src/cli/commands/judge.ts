import { resolve } from 'node:path';
import type { JudgeReport, JudgeRequest } from '../../client/api.ts';
import type { Money } from '../../domain/model.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT, InterruptedError } from '../exit.ts';
import { type CommonFlags, type Host, print, printJson, settingsOf } from '../host.ts';
import { Interruption } from '../interruption.ts';
import { judgedLines, judgingEstimateLines } from '../judge-lines.ts';
import { moneyAmount, positiveInteger } from '../options.ts';
import { Progress } from '../progress.ts';

/** `trialbed judge BATCH --rubric NAME`. */
export const addJudge: AddCommand = (program, { host, action }) => {
  const command = program
    .command('judge')
    .summary('have a model judge the trials of a batch by a rubric')
    .description(
      'Ask a model to put each trial of a batch that has a verdict into a category of a rubric of its suite (rubrics/NAME.yaml). Each judgement is stored as its reply comes; the same command goes on with those that are missing. No verdict changes by it.',
    )
    .argument('<batch>', 'id of the batch')
    .requiredOption('--rubric <name>', "name of the rubric: its file's, without .yaml")
    .option('--model <route>', "file of the route to the model that judges (default: the rubric's own)")
    .option('--concurrency <n>', 'judgements at once (default: 4)', positiveInteger)
    .option('--max-cost <amount>', 'ask nothing more once the judgements of this batch by this judge have cost so much, such as "0.50 USD"', moneyAmount)
    .option('--retry-failed', 'ask again about trials whose judgement is an error')
    .option('--dry-run', 'print how many trials would be judged, and what that is likely to cost; ask no model')
    .action(
      action(async (batch: string, flags: JudgeFlags) => {
        const request: JudgeRequest = {
          batch,
          rubric: flags.rubric,
          ...(flags.model !== undefined && { model: resolve(host.cwd, flags.model) }),
          ...(flags.concurrency !== undefined && { concurrency: flags.concurrency }),
          ...(flags.maxCost && { maxCost: flags.maxCost }),
          ...(flags.retryFailed && { retryFailed: true }),
        };
        if (flags.dryRun) {
          const estimate = await withClient(host, flags, (client) => client.estimateJudging(request));
          if (flags.json) printJson(host, estimate);
          else for (const line of judgingEstimateLines(estimate)) print(host, line);
          return EXIT.ok;
        }
        const report = await judged(host, flags, request);
        if (flags.json) printJson(host, { type: 'judge', ...report });
        else for (const line of judgedLines(report)) print(host, line);
        return report.stands.judged === report.stands.trials ? EXIT.ok : EXIT.gateNotMet;
      }),
    );
  common(
    command,
    [
      'judge ksu672m9bf --rubric tone --dry-run',
      'judge ksu672m9bf --rubric tone',
      'judge ksu672m9bf --rubric tone --model routes/large.yaml --max-cost "0.50 USD"',
    ],
    'The exit code is 1 when trials are left without a category.',
  );
};

interface JudgeFlags extends CommonFlags {
  readonly rubric: string;
  readonly model?: string;
  readonly concurrency?: number;
  readonly maxCost?: Money;
  readonly retryFailed?: true;
  readonly dryRun?: true;
}

/** The first Ctrl-C waits for the replies that are paid for. */
async function judged(host: Host, flags: CommonFlags, request: JudgeRequest): Promise<JudgeReport> {
  using interruption = new Interruption(host, flags, 'judgements under way end and are kept; the same command goes on with the rest');
  const stop = new AbortController();
  interruption.raised.then(() => stop.abort(new InterruptedError(interruption.exit)));
  const progress = new Progress(host, 'trials judged');
  try {
    await using client = await host.connect(settingsOf(host, flags));
    stop.signal.throwIfAborted();
    return await client.judge({ ...request, signal: stop.signal, onProgress: (done, of) => progress.show(done, of) });
  } finally {
    progress.end();
  }
}
