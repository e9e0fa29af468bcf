import type { MailEffect } from '../../../domain/effect.ts';
import type { StoryTicket } from '../../../report/tickets.ts';
import { Badge } from './layout.tsx';
import { RowChange } from './timeline.tsx';
import { Foreign, ForeignBlock, ForeignValue, Time } from '../../../report/html/text.tsx';

/** Mails and tickets on a page. */
const MOST_SHOWN = 100;

/** What lies in the inbox of the world, and what it refused. */
export function Inbox({ mails }: { readonly mails: readonly MailEffect[] }) {
  return (
    <ul class="mails">
      {mails.slice(0, MOST_SHOWN).map((mail) => (
        <li>
          <details>
            <summary>
              <span class="subject">{mail.subject === '' ? 'without a subject' : <Foreign text={mail.subject} max={160} />}</span>{' '}
              <span class="dim">
                to <Foreign text={mail.recipients.map(({ address }) => address).join(', ')} max={160} />
              </span>
              {!mail.accepted && <Badge tone="bad">refused</Badge>}
              {mail.byFault !== undefined && <Badge tone="wait">delivered again by a fault</Badge>}
            </summary>
            <dl class="facts">
              <div>
                <dt>From</dt>
                <dd>
                  <Foreign text={mail.from} max={320} />
                </dd>
              </div>
              <div>
                <dt>To</dt>
                <dd>
                  <Foreign
                    text={mail.recipients.map(({ address, code }) => (code === 250 ? address : `${address} (refused, ${code})`)).join(', ')}
                    max={2_000}
                  />
                </dd>
              </div>
              <div>
                <dt>At</dt>
                <dd>
                  <Time at={mail.at} />
                </dd>
              </div>
              {mail.operation !== null && (
                <div>
                  <dt>By</dt>
                  <dd>
                    <Foreign text={mail.operation} max={80} />
                  </dd>
                </div>
              )}
              {mail.attachments.length > 0 && (
                <div>
                  <dt>With</dt>
                  <dd>
                    <Foreign
                      text={mail.attachments.map(({ filename, contentType, bytes }) => `${filename ?? 'no name'} (${contentType}, ${bytes} bytes)`).join(', ')}
                      max={1_000}
                    />
                  </dd>
                </div>
              )}
              {mail.violations.length > 0 && (
                <div>
                  <dt>Broken</dt>
                  <dd>
                    <Foreign text={mail.violations.join(', ')} max={400} />
                  </dd>
                </div>
              )}
            </dl>
            <ForeignBlock text={mail.text} max={8_000} label="Text of the mail" />
          </details>
        </li>
      ))}
      {mails.length > MOST_SHOWN && <li class="dim">and {mails.length - MOST_SHOWN} more</li>}
    </ul>
  );
}

/** Tickets that were made, changed or commented on. */
export function Tickets({ tickets }: { readonly tickets: readonly StoryTicket[] }) {
  return (
    <ul class="mails">
      {tickets.slice(0, MOST_SHOWN).map(({ key, row, changes, comments }) => (
        <li>
          <details>
            <summary>
              <span class="subject">
                Ticket <Foreign text={key} max={60} />
                {typeof row?.['subject'] === 'string' && (
                  <>
                    : <Foreign text={row['subject']} max={160} />
                  </>
                )}
              </span>{' '}
              {typeof row?.['status'] === 'string' && (
                <Badge tone="plain">
                  <Foreign text={row['status']} max={40} />
                </Badge>
              )}{' '}
              <span class="dim">
                {changes.length === 0 ? 'not changed' : `${changes.length} ${changes.length === 1 ? 'change' : 'changes'}`}, {comments.length}{' '}
                {comments.length === 1 ? 'comment' : 'comments'}
              </span>
            </summary>
            {row && (
              <dl class="facts">
                {Object.entries(row)
                  .slice(0, 40)
                  .map(([column, value]) => (
                    <div>
                      <dt>
                        <Foreign text={column} max={60} />
                      </dt>
                      <dd>
                        <ForeignValue value={value} max={2_000} />
                      </dd>
                    </div>
                  ))}
              </dl>
            )}
            <ul class="marks">
              {[...changes, ...comments].slice(0, MOST_SHOWN).map((effect) => (
                <li>
                  {effect.operation !== null && (
                    <span class="dim">
                      <Foreign text={effect.operation} max={80} />{' '}
                    </span>
                  )}
                  <RowChange effect={effect} />
                </li>
              ))}
            </ul>
          </details>
        </li>
      ))}
    </ul>
  );
}
