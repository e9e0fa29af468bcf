import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/**
 * Says at the end, in plain text, which tests were skipped and why, and how many of each kind there were: as the last line
 * `N passed, N failed, N skipped`. What could not be counted as a test (a file that does not load, an error outside of tests)
 * counts as failed. The line is also written to the file that `TRIALBED_TEST_SUMMARY` names.
 */
export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    const skipped = new Map<string, number>();
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') counts.passed += 1;
        else if (state === 'failed') counts.failed += 1;
        else {
          counts.skipped += 1;
          const group = skippedGroup(module, test);
          skipped.set(group, (skipped.get(group) ?? 0) + 1);
        }
      }
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    }
    const lines = [...skipped].map(([group, count]) => `skipped ${count}: ${group}`);
    const line = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
    process.stdout.write(`${[...lines, line].join('\n')}\n`);
    const file = process.env.TRIALBED_TEST_SUMMARY;
    if (file) writeFileSync(file, `${line}\n`);
  }
}

/** The outermost group whose title says why it is skipped; without one (a filter on the command line) only the file. */
function skippedGroup(module: TestModule, test: TestCase): string {
  const names = [test.name];
  for (let parent = test.parent; parent.type === 'suite'; parent = parent.parent) names.unshift(parent.name);
  const explained = names.findIndex((name) => name.includes('(skipped: '));
  return `${module.relativeModuleId}: ${explained === -1 ? 'no reason stated' : names.slice(0, explained + 1).join(' > ')}`;
}
