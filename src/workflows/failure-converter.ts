import { DefaultFailureConverter } from '@temporalio/common';

/** The worker puts another word here where payloads are encrypted; a workflow has no other way to know. */
const FAILURES: string = 'failures: plain';

/** What of a failure is text goes where a codec sees it, if there is one that encrypts. Read are both. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: FAILURES !== 'failures: ' + 'plain' });
