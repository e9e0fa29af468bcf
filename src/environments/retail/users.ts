import { refusal } from './refusal.ts';
import type { Address, Shop } from './shop.ts';

/**
 * Gives a user another default address; orders keep theirs. The same call again succeeds.
 * @throws {ToolFailure} `user_not_found`
 */
export async function modifyUserAddress(shop: Shop, { user_id: id, ...address }: { readonly user_id: string } & Address): Promise<void> {
  if ((await shop.user(id)) === null) throw refusal('user_not_found');
  await shop.changeUser(id, { address });
}
