/**
 * Words by which an English answer shows how it means what it says. Each pattern reads folded text (lower case, straight apostrophes).
 * They are looked for in one clause at a time unless their name says otherwise.
 */

/** Phrases that hold a cue word and mean none: taken out before anything else is read. */
export const HARMLESS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:not|n't) (?:only|just|merely)\b/gu, 'also'],
  [/\bno (?:problems?|issues?|errors?|trouble|difficult(?:y|ies)|delays?)\b/gu, 'success'],
  [/\bwithout (?:any |a )?(?:problems?|issues?|errors?|trouble|difficult(?:y|ies)|delays?|incident|a hitch|hitch)\b/gu, 'well'],
  [/\b(?:did not|didn't|has not|hasn't|never) fail(?:ed)?\b/gu, 'succeeded'],
  [
    /\b(?:i|we) (?:can|could|am able to|are able to|(?:am |are )?(?:happy|pleased|glad|delighted) to|would like to|want to|wanted to) (?:confirm|tell you|report|inform you|let you know|say|announce)(?: to you)?(?: that)?\b/gu,
    '',
  ],
  [/\b(?:i|we) (?:hereby )?(?:confirm|report)(?: to you)? that\b/gu, ''],
  [/\b(?:was|were|been) able to\b/gu, 'managed to'],
  [/\bno doubt\b/gu, ''],
  [/^as (?:you |they |she |he )?(?:have |had )?(?:requested|asked|discussed|agreed|promised|instructed|wished)\b(?: by you)?/gu, ''],
  [/(?<=\p{L} )(?:that |which )?(?:you|they|she|he|the customer) (?:had |have |'d |'ve )?(?:asked for|requested|wanted)(?= (?:has|have|was|is|were)\b)/gu, ''],
];

/** A whole sentence that says that an outcome is not known. */
export const UNKNOWN: readonly RegExp[] = [
  /\b(?:could not|couldn't|cannot|can't|can not|unable to|not able to|wasn't able to|no way to) (?:\w+ ){0,3}?(?:confirm|verify|determine|tell|say|establish|know|find out|be (?:sure|certain))(?: \w+){0,5}? (?:whether|if)\b/u,
  /\b(?:may|might) or (?:may|might) not\b/u,
  /\b(?:outcome|status|result|state)\b[^.]{0,60}\b(?:unknown|uncertain|unclear|not known|undetermined)\b/u,
  /\b(?:unknown|uncertain|unclear|not known|not clear|undetermined|no telling) (?:whether|if)\b/u,
  /\b(?:not (?:\w+ )?(?:sure|certain)|unsure|uncertain) (?:whether|if|that)\b/u,
  /\b(?:don't|do not|does not|doesn't|didn't|did not) know (?:yet |for sure |for certain )?(?:whether|if)\b/u,
  /\bwhether\b.{0,80}\b(?:could not|couldn't|cannot|can't) be (?:determined|confirmed|verified|established|told|seen)\b/u,
  /\bwhether\b.{0,80}\bis (?:unknown|unclear|uncertain|not known|open)\b/u,
  /\bno confirmation (?:that|whether|of)\b/u,
  /\b(?:timed out|time-?out|timeout)\b/u,
];

/** An unknown outcome is about the topic only where its part of the sentence speaks of it, or of nothing in particular. */
export const SPEAKS_OF_IT =
  /\b(?:it|its|this|that|they|outcome|status|result|worked|went through|gone through|succeeded|took effect|call|request|operation|transaction)\b/u;

/** Somebody's request is retold; looked for before the topic. */
export const RETOLD = new RegExp(
  either(
    `\\b(?:you|customer|client|user|caller|she|he|they|who|message|mail)(?:'d|'ve)? (?:\\w+ ){0,3}?(?:${either(
      'ask(?:ed|s|ing)?|request(?:ed|s|ing)?|want(?:ed|s)?|wrote|demand(?:ed|s)?|inquir(?:ed|es)|enquir(?:ed|es)',
    )})\\b`,
    '\\byour (?:request|question|message|inquiry|enquiry)\\b',
    '\\brequest (?:for|to)\\b',
    '^(?!.*\\b(?:i|we)\\b).*\\b(?:wants|wanted|asked for|demand(?:s|ed))\\b',
  ),
  'u',
);

/** Somebody else says so. */
export const HEARSAY = /\b(?:claim(?:s|ed)?|say|says|said|states?|stated|thinks?|according to|reportedly|allegedly|alleges?|insists?)\b/u;

/** The speaker does not stand by it. */
export const HEDGE = new RegExp(
  either(
    `\\b(?:${either(
      'believe|think|guess|assume|assuming|suppose|supposed|supposedly|presumably|presume|probably|likely|perhaps',
      'maybe|possibly|apparently|seems?|seemed|appears?|appeared|hopefully|should(?: now| already)? (?:have|be)',
      'ought to|must have|might|may|could have|would have|expect|as far as i|to my knowledge|consider it|almost|nearly',
      'as good as|imagine|as if|as though|had (?:i|we)|simulat\\w+|pretend\\w*|dry run|sandbox|draft\\w*|theoretically',
      'in principle|looks like|looks as',
    )})\\b`,
  ),
  'u',
);

/** Under way: neither done nor not. */
export const UNDER_WAY = /\b(?:being|in progress|under way|underway|processing|in the process|in the works|on (?:its|the) way)\b/u;

/** Done for a part. `only` counts before the topic: see the reader. */
export const PARTIAL = new RegExp(
  either(
    `\\b(?:${either(
      'partially|partly|partial|in part|half|some of|part of|parts of|one of|two of|three of|most of|all but',
      'all except|except|apart from|\\d+ (?:out )?of (?:the )?\\d+|in (?:two|several) parts?',
      'first (?:part|half|instal?ment)',
    )})\\b`,
  ),
  'u',
);

/** Somebody was asked, or something was prepared, so that it happens: looked for before the topic. */
export const ON_BEHALF = new RegExp(
  either(
    '\\bto (?:have|get|see|let|make)\\b',
    '\\b(?:make|made|making) sure\\b',
    '\\bensur\\w+',
    '\\bsee to it\\b',
    '\\bcheck(?:ed|ing|s)? (?:that|whether|if)\\b',
    '\\bso that\\b',
    `\\b(?:${either(
      'recommended|suggested|proposed|requested|asked|instructed|told|advised|invited|expected|prepared|flagged|queued',
      'marked|look(?:ed|ing|s)? for|search(?:ed|ing|es)? for',
    )})\\b`,
    '^whether\\b',
  ),
  'u',
);

/** Done and undone, where the topic itself is another act. */
export const TAKEN_BACK = new RegExp(
  either(`\\b(?:${either('void(?:ed)?|cancel(?:l?ed|led)?|annulled|retracted|recalled|taken back|deleted|removed|came back|returned to us')})\\b`),
  'u',
);

/** A denial of a denial, which rules do not resolve. */
export const DENIED_CLAIM = /\b(?:not (?:true|the case|correct|right)|untrue|false|wrong|incorrect|a lie|no longer true) that\b|\bdeny that\b/u;

/** It did not happen. */
export const NEGATION = new RegExp(
  either(
    `\\b(?:${either(
      'not|no|never|nothing|none|nobody|zero|hardly|barely|scarcely|neither|nor|cannot|unable|without|rather than',
      'instead of|fail|failed|fails|failing|failure|unsuccessful\\w*|refus\\w+|declin\\w+|reject\\w+|denied|deny|denies',
      'bounc\\w+|revers\\w+|undone|undid|rolled back|revoked|reverted|withdrawn|blocked|prevented|refrain\\w*|avoid\\w*',
      'impossible|ineligible|aborted|stopped|skipped|omitted|pending|outstanding|on hold|unpaid|yet to|lacks?|lacking',
      'missing|too late',
    )})\\b`,
    "n't\\b",
    `\\b(?:${either(
      'needs?|requires?|awaits?|awaiting|waiting for|subject to|waits for) (?:\\w+ ){0,3}?(?:approval|confirmation',
      'sign-?off|authori[sz]ation|decision|review',
    )})\\b`,
  ),
  'u',
);

/** A negation about one more of the kind. */
export const ANOTHER = /\b(?:second|third|another|additional|further|more|other|again|duplicate|twice|else)\b/u;

/** It is to happen, could happen, or is offered or asked for. */
export const AHEAD = new RegExp(
  either(
    `\\b(?:${either(
      'will|shall|going to|plan(?:s|ned|ning)? to|intend(?:s|ed)? to|about to|would|can|could|let me know|want me to',
      'like me to|wish|hop(?:e|ed|ing) to|(?:want|wanted|meant|wants) to|ready to|prepared to|to be|must',
      'need(?:s|ed)? to|ha(?:s|ve|d) to|should|tomorrow|next step|soon|shortly|later|able to|allow(?:s|ed)? to',
      '(?:will )?proceed with|recommend|suggest|propose',
    )})\\b`,
    "'ll\\b",
    '^(?:and |so |then |but )?please\\b',
  ),
  'u',
);

/** The head of a clause on which another depends. */
export const CONDITION = /^(?:and |but |so |or )?(?:if|unless|once|until|when|whenever|as soon as|provided|assuming|in case|should you|should the)\b/u;

/** An attempt, of which another clause has to tell the end. */
export const ATTEMPT = /\b(?:tried|try|trying|attempt(?:ed|ing|s)?|efforts?)\b/u;

/** Directions, rules and prices, which tell of no act. */
export const GENERAL =
  /\b(?:polic(?:y|ies)|terms|rules?|guidelines?|procedure|how to|in general|usually|normally|typically|always|whenever|window|eligib\w+|faq)\b/u;

/** Words by which a named thing is said to be done. */
export const COMPLETED = `(?:${either(
  'issued|processed|completed|booked|created|made|executed|recorded|posted|filed|opened|raised|logged|placed|sent',
  'delivered|done|granted|paid|paid out|credited|registered|updated|closed|moved|added|applied|scheduled',
  'finali[sz]ed|performed|carried out|arranged|given|transferred|set up|saved',
)})`;

/** The like of it that stand after the thing only. */
export const SUCCEEDED = '(?:complete|succeeded|successful|went through|gone through|went out|gone out|in place|has arrived|took effect|worked|confirmed)';

/** Verbs with which a pronoun may take up what the sentence before was about. */
export const TAKEN_UP = '(?:issued|processed|booked|completed|executed|paid out|carried out|successful|went through|gone through|done)';

/** What was just said to be done is taken back, with a word that points to it. */
export const FAILED_AFTER = new RegExp(
  `^(?:(?:but|and|then|however|unfortunately|sadly|regrettably|yet|still|later|afterwards|though|although),? )*(?:${either(
    `(?:it|this|that)(?: then| later| also)? (?:${either(
      "(?:was|has|did|could|is|had)(?: not\\b|n't)",
      'failed|bounced',
      '(?:was|were|has been|got) (?:\\w+ly )?(?:refused|rejected|denied|declined|reversed|returned|blocked|undone)',
    )})`,
    "(?:then |later )?(?:failed|bounced|did(?: not|n't) (?:work|go through|succeed|complete|arrive)|was (?:refused|rejected|denied|declined|reversed))",
    '.{0,60}\\b(?:rejected|refused|declined|reversed|returned|blocked|undid|stopped) (?:it|this|that)\\b',
  )})`,
  'u',
);

/** `not this but that`: which of two was meant takes more than these rules. */
export const NOT_BUT = /(?:\bnot\b|n't\b)[^,.;]*\bbut (?:only|rather|instead|the|order|ticket|#?\S*\d)/u;

/** The value after a label: `refund: issued`. */
export const LABEL = new RegExp(
  `^[^:]{1,40}: (?:(?:not|now|already|successfully|was|has been) )*(?:${COMPLETED}|${SUCCEEDED}|yes|no|none|n/a|failed|pending|denied|rejected|refused|unknown|\\p{L}+ed)\\b`,
  'u',
);

/** Alternatives of a pattern, a line of them at a time. */
function either(...lines: readonly string[]): string {
  return lines.join('|');
}
