// Limits that clients rely on, as numbers: what RFCs demand at least, and what docs/design promises.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PER_HOUR, PER_SOURCE_AND_DAY } from '../../src/agents/registrations.ts'
import { MAIL_BYTES_MAX } from '../../src/api/mailbox/messages/message-import.ts'
import { MAILBOX_LIMITS } from '../../src/api/schemas/limits.ts'
import { BATCH_MAX } from '../../src/api/sending/batch-body.ts'
import { MAILBOX_KEYS_MAX } from '../../src/directory/keys/keys.ts'
import { APP_PASSWORDS_MAX } from '../../src/directory/mailboxes/app-passwords.ts'
import { QUOTA_DEFAULT_BYTES, QUOTA_MAX_BYTES, QUOTA_MIN_BYTES } from '../../src/directory/mailboxes/mailbox-input.ts'
import { SUSPENDED_DEFER_MS } from '../../src/directory/mailboxes/receiver.ts'
import { PER_TEAM_MAX } from '../../src/events/webhooks/subscriptions.ts'
import * as imap from '../../src/imap/grammar/limits.ts'
import * as managesieve from '../../src/managesieve/limits.ts'
import { RAW_MAX } from '../../src/mime/compose/outgoing-content.ts'
import { RECEIVED_MAX as DRAFT_RECEIVED_MAX } from '../../src/mime/compose/raw-draft.ts'
import { LINE_MAX } from '../../src/mime/compose/seven-bits.ts'
import { PREVIEW_MAX } from '../../src/mime/preview.ts'
import { LIFETIME_MS } from '../../src/outbound/model/limits.ts'
import { RECEIVED_MAX } from '../../src/outbound/transports/local/local.ts'
import { CHUNK_MS, CONTENT_MS } from '../../src/outbound/transports/smtp/limits.ts'
import { SCRIPT_BYTES_MAX } from '../../src/sieve/lexer.ts'
import { NESTING_MAX } from '../../src/sieve/parser.ts'
import { VALUE_MAX, VARIABLES_MAX } from '../../src/sieve/variables.ts'
import { MAX_COMMAND_BYTES } from '../../src/smtp/command-reader.ts'
import * as smtp from '../../src/smtp/limits.ts'
import { PENDING_BYTES_MAX, PENDING_FILES_MAX, UPLOAD_LIFE_MS } from '../../src/store/content/uploads.ts'
import { KEYWORDS_MAX } from '../../src/store/entries/keywords.ts'
import { FOLDERS_MAX } from '../../src/store/mailbox/folders-edits.ts'
import { REMOVED_HELD_MS } from '../../src/store/messages/removed.ts'
import { RETAINED_MIN, RETENTION_MS } from '../../src/store/rows/changes-history.ts'
import { QUERY_CHARS, QUERY_DEPTH, QUERY_TERMS } from '../../src/store/search/parse-query.ts'
import * as submission from '../../src/submission/limits.ts'

const MINUTE = 60_000
const DAY = 86_400_000

const required: [rule: string, limit: number, least: number][] = [
  ['RFC 5321 §4.5.3.1.4: octets of a command line', MAX_COMMAND_BYTES, 512],
  ['RFC 5321 §4.5.3.1.7: octets of a message', smtp.MAX_MESSAGE_BYTES, 65_536],
  ['RFC 5321 §4.5.3.1.8: recipients of a received message', smtp.MAX_RECIPIENTS, 100],
  ['RFC 5321 §4.5.3.1.8: recipients of a submitted message', submission.SUBMITTED_RECIPIENTS_MAX, 100],
  ['RFC 5321 §4.5.3.2.5: pause between blocks of data', smtp.PAUSE_MS, 3 * MINUTE],
  ['RFC 5321 §4.5.3.2.5: writing a block of data', CHUNK_MS, 3 * MINUTE],
  ['RFC 5321 §4.5.3.2.6: the reply to the end of data', CONTENT_MS, 10 * MINUTE],
  ['RFC 5321 §4.5.3.2.7: the next command', smtp.COMMAND_MS, 5 * MINUTE],
  ['RFC 5321 §6.3: Received fields of a received message', smtp.MAX_RECEIVED, 100],
  ['RFC 5321 §6.3: Received fields of a message that stays', RECEIVED_MAX, 100],
  ['RFC 5321 §6.3: Received fields of a submitted message', DRAFT_RECEIVED_MAX, 100],
  ['RFC 4954 §4: octets of a line of AUTH', submission.AUTH_LINE_BYTES, 12_288],
  ['RFC 9051 §5.4: silence of a mail program', imap.SILENCE_MS, 30 * MINUTE],
  ['RFC 7162 §4: octets of a command line before login', imap.BEFORE_LOGIN.lineBytes, 8192],
  ['RFC 7162 §4: octets of a command line', imap.AFTER_LOGIN.lineBytes, 8192],
  ['RFC 7888 §5: octets of a literal that is not announced', imap.BEFORE_LOGIN.nonSyncBytes, 4096],
  ['RFC 2971 §3.3: pairs of ID', imap.ID_PAIRS, 30],
  ['RFC 2971 §3.3: octets of a name of ID', imap.ID_FIELD_BYTES, 30],
  ['RFC 2971 §3.3: octets of a value of ID', imap.ID_VALUE_BYTES, 1024],
  ['RFC 5804 §1.2: silence of an editor of scripts', managesieve.SILENCE_MS, 30 * MINUTE],
  ['RFC 5804 §4: octets of a quoted string', managesieve.QUOTED_BYTES, 1024],
  ['RFC 5228 §2.10.7: nested blocks and tests', NESTING_MAX, 15],
  ['RFC 5229 §3: variables', VARIABLES_MAX, 128],
  ['RFC 5229 §3: octets of a variable', VALUE_MAX, 4000],
]
for (const [rule, limit, least] of required) {
  test(`${rule}: at least ${least}`, () => assert.ok(limit >= least, `${limit}`))
}

const promised: [rule: string, limit: number, number: number][] = [
  ['RFC 5322 §2.1.1: octets of a line', LINE_MAX, 998],
  ['receiving.md §1: bytes of a received message', smtp.MAX_MESSAGE_BYTES, 52_428_800],
  ['mail-programs.md §2.5: bytes of a message of APPEND', imap.MESSAGE_BYTES, 52_428_800],
  ['mail-programs.md §2.5: messages of MULTIAPPEND', imap.APPEND_MESSAGES, 50],
  ['mail-programs.md §2.5: messages of SORT', imap.SORT_MESSAGES, 200_000],
  ['mail-programs.md §2.5: messages of THREAD', imap.THREAD_MESSAGES, 100_000],
  ['mail-programs.md §2.5: search keys', imap.SEARCH_KEYS, 100],
  ['mail-programs.md §2.5: depth of a search', imap.SEARCH_DEPTH, 10],
  ['mail-programs.md §1.1: app passwords of a mailbox', APP_PASSWORDS_MAX, 25],
  ['mail-programs.md §3: recipients of a submission', submission.SUBMITTED_RECIPIENTS_MAX, 500],
  ['mail-programs.md §3: bytes of a submission', RAW_MAX, 41_943_040],
  ['mailbox.md: bytes of a script', SCRIPT_BYTES_MAX, 65_536],
  ['mailbox.md: bytes of an imported message', MAIL_BYTES_MAX, 52_428_800],
  ['mailbox.md: days that changes are kept', RETENTION_MS, 30 * DAY],
  ['mailbox.md: changes of a type that are kept', RETAINED_MIN, 10_000],
  ['mailbox.md: keywords of a message', KEYWORDS_MAX, 100],
  ['mailbox.md: folders', FOLDERS_MAX, 1000],
  ['mailbox.md: characters of a query', QUERY_CHARS, 512],
  ['mailbox.md: terms of a query', QUERY_TERMS, 32],
  ['mailbox.md: depth of a query', QUERY_DEPTH, 5],
  ['mailbox.md: characters of a preview', PREVIEW_MAX, 256],
  ['mailbox.md: life of an upload', UPLOAD_LIFE_MS, DAY],
  ['mailbox.md: bytes of uploads', PENDING_BYTES_MAX, 104_857_600],
  ['mailbox.md: uploads', PENDING_FILES_MAX, 1000],
  ['outside-accounts.md: days that a removed message is held', REMOVED_HELD_MS, 30 * DAY],
  ['directory.md: least quota', QUOTA_MIN_BYTES, 10_485_760],
  ['directory.md: largest quota', QUOTA_MAX_BYTES, 1_099_511_627_776],
  ['directory.md: quota', QUOTA_DEFAULT_BYTES, 5_368_709_120],
  ['directory.md: keys of a mailbox', MAILBOX_KEYS_MAX, 25],
  ['directory.md: days that mail for a suspended mailbox waits', SUSPENDED_DEFER_MS, 7 * DAY],
  ['events.md: subscriptions of a team', PER_TEAM_MAX, 20],
  ['sending.md §7: time of attempts', LIFETIME_MS, 2 * DAY],
  ['contract.md §8: messages of a batch', BATCH_MAX, 100],
  ['contract.md §8: registrations of a source in a day', PER_SOURCE_AND_DAY, 3],
  ['contract.md §8: registrations in an hour', PER_HOUR, 500],
]
for (const [rule, limit, number] of promised) test(`${rule}: ${number}`, () => assert.equal(limit, number))

test('the session document promises these limits', () => {
  assert.deepEqual(MAILBOX_LIMITS, {
    list_limit_max: 100,
    changes_limit_max: 500,
    batch_ids_max: 100,
    message_body_chars_default: 20_000,
    thread_body_chars_default: 4_000,
    body_chars_max: 500_000,
    inline_attachment_bytes_max: 10_485_760,
    attachment_upload_bytes_max: 26_214_400,
    outbound_raw_message_bytes_max: 41_943_040,
    keywords_per_update_max: 50,
  })
})
