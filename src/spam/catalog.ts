// The facts of the spam score by name: the sentence that tells them, and what each counts before anything is learned.

/** What a fact is about; only facts about the sender and the form of a message can refuse it. */
export type FactKind = 'sender' | 'form' | 'claim' | 'content' | 'history' | 'program'

export interface FactEntry {
  kind: FactKind
  /** Points on the scale on which 5 files to Junk. */
  points: number
  /** For people, in the present tense. */
  sentence: string
}

const fact = (kind: FactKind, points: number, sentence: string): FactEntry => ({ kind, points, sentence })

/** Points of a fact that files to Junk alone. */
const JUNK_POINTS = 5

export const FACTS = {
  // Crafted to display one author and authenticate another; no legitimate mailer writes it.
  author_unclear: fact('sender', JUNK_POINTS, 'It names its author in a way that programs read differently.'),
  // Legitimate messages of a hosted domain are sent through this appliance or authenticate.
  own_domain_unproven: fact(
    'sender',
    JUNK_POINTS,
    'It says it is from a domain of this server, and nothing proves that.',
  ),
  // The domain states explicitly that this host does not send for it; forwarding has the same effect on legitimate mail.
  spf_fail: fact('sender', 2, 'The domain of the sender says that this host does not send for it (SPF).'),
  // The domain's own policy is undecided.
  spf_softfail: fact('sender', 1, 'The domain of the sender says that this host probably does not send for it (SPF).'),
  spf_permerror: fact('sender', 0.5, 'The SPF record of the sender cannot be used.'),
  spf_none: fact('sender', 0.5, 'The domain of the sender does not say which hosts send for it (SPF).'),
  // Mailing lists break signatures: low weight.
  dkim_fail: fact('sender', 1, 'Its signature does not fit its content (DKIM).'),
  dkim_none: fact('sender', 0.5, 'It has no signature (DKIM).'),
  dmarc_fail: fact('sender', 2, 'Nothing proves that it is from the domain in its From field (DMARC).'),
  // The policy of the From domain asks for Junk.
  dmarc_quarantine: fact('sender', JUNK_POINTS, 'The domain in its From field asks to treat it as suspicious (DMARC).'),
  // RFC 5321 §2.3.5: HELO is a fully qualified name; bots on home machines often send none.
  helo_not_a_name: fact('sender', 0.5, 'The sending host does not say its name.'),
  // Mail hosts have a reverse name; many large receivers refuse mail without one.
  no_reverse_name: fact('sender', 0.5, 'The address of the sending host has no name.'),

  // Lists make mistakes: one alone leaves a plain message in the Inbox.
  host_listed: fact('sender', 4, 'A blocklist lists the sending host.'),

  // RFC 5322 §3.6: exactly one From and one Date; every mailer writes both.
  from_missing: fact('form', 2, 'It does not say who it is from.'),
  from_repeated: fact('form', 4, 'It says twice who it is from.'),
  from_many: fact('form', 1.5, 'It says it is from several people.'),
  date_missing: fact('form', 1, 'It has no date.'),
  date_future: fact('form', 1.5, 'Its date is in the future.'),
  date_past: fact('form', 0.5, 'Its date is more than two weeks ago.'),
  // RFC 5322 §3.6.4 says "should": legitimate scripts omit it.
  message_id_missing: fact('form', 0.5, 'It has no Message-ID.'),
  headers_repeated: fact('form', 1, 'Header fields that occur once are repeated.'),
  name_is_other_address: fact('form', 2, 'The name of the sender is an address of another domain.'),
  subject_capitals: fact('form', 0.5, 'Its subject is in capitals.'),
  // Malformed, on purpose or by a bad program.
  not_parsed: fact('form', 1, 'It is malformed.'),
  // An IP address hides who serves the link; a shortener hides its target.
  url_address: fact('form', 1.5, 'A link leads to a host without a name.'),
  url_shortener: fact('form', 1, 'A link hides its target behind a shortener.'),
  // Click-tracking newsletters do this too, hence the low weight.
  url_mismatch: fact('form', 1, 'The text of a link names another host than the link leads to.'),
  // An image instead of text evades filters.
  no_text: fact('form', 1, 'It has no text.'),

  brand_claimed: fact(
    'claim',
    3,
    'The sender calls itself by the name of a company that the address does not belong to.',
  ),
  brand_in_subject: fact('claim', 1, 'Its subject names a company, and neither the sender nor a link belongs to it.'),
  lookalike_domain: fact('claim', 3, 'The domain of the sender or of a link resembles the domain of a company.'),
  reply_to_free_mail: fact('claim', 1.5, 'Replies go to a free mail address and not to the sender.'),
  reply_to_elsewhere: fact('claim', 0.5, 'Replies go to another domain than the sender’s.'),
  mixed_scripts: fact('claim', 2, 'Words mix letters of different scripts that look alike.'),

  // What this mailbox knows of the sender; the score is capped or raised by it (score.ts), so that the points are those of doubt alone.
  first_contact: fact('history', 0, 'It is the first message from this sender.'),
  sender_known: fact('history', 0, 'You know this sender: you have answered, written to them, or kept their messages.'),
  sender_junked: fact('history', 0, 'You have moved messages of this sender to Junk.'),
  domain_known: fact('history', -2, 'You know the domain of this sender: you have kept messages from there.'),
  domain_junked: fact('history', 3, 'You have moved messages from the domain of this sender to Junk.'),
  host_welcome: fact('history', -2, 'An allowlist lists the sending host.'),
  known_sender_unproven: fact(
    'history',
    1.5,
    'You know the address of the sender, but nothing proves that it is from them.',
  ),

  link_free_hosting: fact('content', 1, 'A link leads to a page that anybody can publish within minutes.'),
  link_redirect: fact('content', 1, 'A link leads through another site to its target.'),
  link_user_name: fact('content', 2, 'A link has a name before its host, so that it seems to lead elsewhere.'),
  link_encoded_host: fact('content', 0.5, 'The host of a link has letters beyond ASCII.'),
  form_inside: fact('content', 1.5, 'It contains a form.'),
  password_asked: fact('content', 3, 'It asks for a password.'),
  script_inside: fact('content', 1.5, 'It contains a script, a frame or a redirect.'),
  attachment_program: fact('content', 4, 'An attachment is a program, or starts one.'),
  attachment_disguised: fact('content', 3, 'The name of an attachment hides its kind.'),
  attachment_page: fact('content', 1.5, 'An attachment is a web page.'),
  attachment_macros: fact('content', 1.5, 'An attachment is a document with macros.'),
  // Its content cannot be examined; malware comes so, with the password in the text.
  attachment_encrypted: fact('content', 2, 'An attachment is an archive with a password.'),
  spelled_out: fact('content', 4.5, 'Its words are written letter by letter, which hides them from filters.'),
  text_hidden: fact('content', 1, 'Most of its text is hidden from the reader.'),
  zero_width: fact('content', 2, 'Invisible characters split its words.'),
  domain_listed: fact('content', 4, 'A blocklist lists the domain of the sender or of a link.'),
  // The points are those of its score (inbound/filter-daemons.ts).
  rspamd: fact('program', 0, 'Another filter (rspamd) scored it.'),
  rspamd_silent: fact('program', 0, 'Another filter (rspamd) did not answer in time.'),
  virus_found: fact('program', 10, 'It contains a virus.'),
  virus_unchecked: fact('program', 0, 'ClamAV did not answer in time: nothing was scanned for viruses.'),
  picture_only: fact('content', 1, 'It is a picture with a link and hardly any text.'),
} satisfies Record<string, FactEntry>

export type FactName = keyof typeof FACTS

/** The names that are facts; others are those of earlier versions, and words. */
export function factNames(names: readonly string[]): FactName[] {
  return names.filter((name): name is FactName => Object.hasOwn(FACTS, name))
}

/** The points of facts by name; other names count nothing, such as those of earlier versions. */
export function pointsOfFacts(names: readonly string[]): number {
  return factNames(names).reduce((sum, name) => sum + FACTS[name].points, 0)
}

/** What counts beside facts. */
const OTHERS: Readonly<Record<string, [more: string, less: string]>> = {
  words: ['Its words are like those of spam.', 'Its words are like those of good messages.'],
  learned: [
    'It is like messages that were moved to Junk in this mailbox or its team.',
    'It is like messages that this mailbox or its team has kept.',
  ],
}

/** The sentence for a reason of a score; names of earlier versions stand for themselves. */
export function sentenceOf(reason: string, points: number): string {
  if (Object.hasOwn(FACTS, reason)) return FACTS[reason as FactName].sentence
  const sentences = OTHERS[reason]
  return sentences === undefined ? reason : sentences[points < 0 ? 1 : 0]
}

/** A fact that applies to a message. */
export interface Fact {
  name: FactName
  points: number
  /** The part of the message that shows it: a host, a file name; null when there is none. */
  detail: string | null
}

export function factOf(name: FactName, detail: string | null = null, points = FACTS[name].points): Fact {
  return { name, points, detail }
}
