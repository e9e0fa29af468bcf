import type { ModuleAgent } from 'trialbed/environment';

/**
 * An agent of a few rules. Put your own here: call a model with `session.instructions`, `session.tools` and the message, make the calls that it asks
 * for through `session.call`, and reply with what it says.
 */
const planner: ModuleAgent = async (session) => {
  for (let message = await session.receive(); message !== null; message = await session.receive()) {
    const wish = /for (\d+) people on (\d{4}-\d\d-\d\d) from (\d\d:\d\d) to (\d\d:\d\d)/.exec(message.text);
    if (!wish) {
      await session.reply('For how many people, on which day, from when to when?');
      continue;
    }
    const [, seats, date, from, to] = wish;
    const found = await session.call('find_rooms', { seats: Number(seats), date: date ?? '', from: from ?? '', to: to ?? '' });
    const [room] = (found.result ?? []) as { id: number; name: string }[];
    if (!room) {
      await session.reply('No room is free at that time, so I booked none.');
      continue;
    }
    const booking = await session.call('book_room', { room_id: room.id, date: date ?? '', from: from ?? '', to: to ?? '' });
    // `unknown` is neither success nor failure, and the user must be told just that.
    if (booking.state === 'committed') await session.reply(`${String(session.parameters['greeting'])} I booked ${room.name} on ${date} from ${from} to ${to}.`);
    else if (booking.state === 'unknown') await session.reply(`I tried to book ${room.name}, and cannot tell whether it was booked.`);
    else await session.reply(`I could not book ${room.name}: ${booking.problem?.message ?? booking.state}`);
  }
};

export default planner;
