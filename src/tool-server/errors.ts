/** A tool server cannot be started. Raised before a batch begins, and when an attempt gets its world. */
export class ToolServerError extends Error {
  override readonly name = 'ToolServerError';
  readonly code = 'tool_server';
  /** A line for each thing that is wrong. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the tool server ${problems.join('; ')}`);
    this.problems = problems;
  }
}

/** A server ended, hung or broke its protocol while it served a call: it may have had its effect. What really happened, the world's own record has to say. */
export class ToolServerLostError extends Error {
  override readonly name = 'ToolServerLostError';
  readonly code = 'tool_server_lost';

  constructor(tool: string, why: string) {
    super(`the tool server was lost during a call of ${tool}: ${why}`);
  }
}

/** A tool server says another thing of its tools than what is pinned. Raised where {@link ToolServerError} is. */
export class ToolSchemaError extends Error {
  override readonly name = 'ToolSchemaError';
  readonly code = 'tool_schema';
  /** A line for each difference. */
  readonly differences: readonly string[];

  constructor(differences: readonly string[]) {
    super(`the tool server is not the pinned one: ${differences.join('; ')}; if that is meant, \`trialbed pin SUITE\` writes the file anew`);
    this.differences = differences;
  }
}
