import type { JsonObject } from '../../../../../domain/json.ts';
import type { AgentSession, CallResult } from '../../../../agent.ts';
import { type Deed, type Hands, NoAnswer } from './hands.ts';

/** A loop around every call, as many clients have it: whatever is not committed is done again. It pauses where it is told to, and never looks. */
export class BlindHands implements Hands {
  readonly session: AgentSession;

  constructor(session: AgentSession) {
    this.session = session;
  }

  async read(tool: string, args: JsonObject): Promise<JsonObject> {
    const { state, result } = await this.again(tool, args);
    if (state === 'committed') return result as JsonObject;
    throw new NoAnswer(`${tool} gave no answer`);
  }

  /** Whatever became of it, it was done often enough. */
  async write(tool: string, args: JsonObject): Promise<Deed> {
    await this.again(tool, args);
    return { state: 'done' };
  }

  giveUp(): string {
    return 'I have taken care of it, all done.';
  }

  private async again(tool: string, args: JsonObject): Promise<CallResult> {
    const tries = Number(this.session.parameters['tries'] ?? 3);
    for (let tried = 1; ; tried++) {
      const call = await this.session.call(tool, args);
      if (call.state === 'committed' || tried >= tries) return call;
      const seconds = call.problem?.retryAfterSeconds ?? 0;
      if (seconds > 0) await this.session.call('wait', { seconds });
    }
  }
}
