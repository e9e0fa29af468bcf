import type { AgentSession } from '../../../agent.ts';
import { careful as brain } from './brains/careful.ts';
import { CarefulHands } from './hands/careful-hands.ts';
import { converse } from './hands/hands.ts';

/** A careful colleague as a program: it reads before it writes, looks before it repeats, waits when it is told to, and says what it does not know. */
export default function careful(session: AgentSession): Promise<void> {
  return converse(new CarefulHands(session), brain);
}
