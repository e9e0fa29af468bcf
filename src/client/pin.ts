import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { acceptWritten, loadEnvironment } from '../environments/load.ts';
import { driftOf, pinnedText, serverTools, toolsIn } from '../environments/pinned-tools.ts';
import { readSuiteFiles } from '../suite/load-suite.ts';
import { SuiteFileError } from '../suite/suite.ts';
import type { Root } from '../worker/root.ts';
import type { PinReport } from './api.ts';
import { inCheckWorld } from './check-world.ts';
import { NothingToRunError } from './nothing-to-run.ts';
import { withToolServers } from './tool-servers.ts';

/**
 * Asks the tool server of a suite's environment, in a world of its own, for its tools, and writes them to the file that the environment names. @throws {NothingToRunError}
 * where the environment has none. @throws {ToolServerError}
 */
export async function pin(root: Root, suiteName: string): Promise<PinReport> {
  const { suite, problems } = await readSuiteFiles(suiteName);
  if (suite === null) throw new SuiteFileError(problems);
  const environment = await loadEnvironment(suite.environment, { pins: 'ignored' });
  const { toolServer, name } = environment.environment;
  if (toolServer === undefined) throw new NothingToRunError(`environment ${name} has no tool server, and so nothing to pin`);
  const file = toolServer.pinned instanceof URL ? fileURLToPath(toolServer.pinned) : toolServer.pinned;
  const before = toolsIn(
    await readFile(file, 'utf8')
      .then(JSON.parse)
      .catch(() => null),
  );
  const tools = await inCheckWorld(root, environment, (world) => withToolServers(root, (servers) => servers.ask(world, toolServer)));
  await writeFile(file, pinnedText(tools));
  acceptWritten(environment.source.file);
  return {
    type: 'pin',
    file,
    tools: tools.map((tool) => tool.name),
    changes: typeof before === 'string' ? [] : driftOf(before, tools),
    problems: serverTools(toolServer, tools).problems,
  };
}
