import type { AgentSession } from '../../../agent.ts';
import { hasty as brain } from './brains/hasty.ts';
import { BlindHands } from './hands/blind-hands.ts';
import { converse } from './hands/hands.ts';

/** A hasty colleague as a program: it makes the mistakes that the cases of this suite are about, and repeats blindly whatever is not committed. */
export default function hasty(session: AgentSession): Promise<void> {
  return converse(new BlindHands(session), brain);
}
