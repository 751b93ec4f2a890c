// Access to the database: SQLite only in db/, SQL only in the rooms that own data, and each table only in the file that owns it.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { blobMigrations, mailMigrations } from '../../src/db/migrations/migrations.ts'
import { Table } from '../../src/db/table.ts'
import { ROOT, type Source, sources } from '../support/source.ts'

/** Rooms that may hold SQL (docs/design/structure.md §1, rule 3). */
const SQL_ROOMS = [
  'db',
  'directory',
  'events',
  'store',
  'outbound',
  'agents',
  'people',
  'sync',
  'certificates',
  'deliverability',
]

/** Folders of messages and threads by what is done with them: entries and counts, lists, and messages or threads themselves. */
const MESSAGES = ['src/store/entries/', 'src/store/lists/', 'src/store/messages/']
const THREADS = ['src/store/entries/', 'src/store/lists/', 'src/store/threads/']
const FOLDERS = [
  ...['src/store/rows/', 'src/store/entries/folders', 'src/store/entries/snooze-rows.ts'],
  'src/store/mailbox/folders-edits.ts',
]
const OUTBOUND_RECORDS = 'src/outbound/model/records.ts'
/** Every table and the beginnings of the paths of the files that alone name it; `db/migrate.ts` keeps the list of steps. */
const OWNERS = new Map<string, string | readonly string[]>([
  ['migrations', 'src/db/migrate.ts'],
  ['teams', 'src/directory/keys/teams.ts'],
  ['keys', 'src/directory/keys/keys.ts'],
  ['app_passwords', 'src/directory/mailboxes/app-passwords.ts'],
  ['sign_ins', 'src/directory/keys/sign-ins.ts'],
  ['domains', 'src/directory/domains/domains'],
  ['mailboxes', 'src/directory/mailboxes/mailbox'],
  ['filters', 'src/directory/domains/filters.ts'],
  ['sieve_scripts', 'src/directory/mailboxes/sieve-scripts.ts'],
  ['api_requests', 'src/directory/names/request-log.ts'],
  ['replays', 'src/directory/names/replays.ts'],
  ['rate_counts', 'src/directory/names/limits.ts'],
  ['accounts', 'src/store/rows/accounts'],
  ['mailbox_erasures', 'src/directory/mailboxes/mailboxes'],
  ['aliases', 'src/directory/mailboxes/aliases'],
  ['address_patterns', 'src/directory/mailboxes/addressing'],
  ['retired_addresses', 'src/directory/mailboxes/retired-addresses'],
  ['pattern_addresses', 'src/directory/mailboxes/pattern-addresses'],
  ['deleted_aliases', 'src/directory/mailboxes/aliases'],
  ['forwards', 'src/directory/mailboxes/forwards.ts'],
  ['forward_refusals', 'src/directory/mailboxes/forwards.ts'],
  ['forward_requests', 'src/directory/mailboxes/forwards.ts'],
  ['snoozes', 'src/store/entries/snooze-rows.ts'],
  ['changes', 'src/store/rows/changes'],
  ['change_floors', 'src/store/rows/changes'],
  ['folders', FOLDERS],
  ['message_folders', FOLDERS],
  ['expunged_uids', 'src/store/rows/'],
  ['expunged_floors', 'src/store/rows/folders'],
  ['subscribed_names', 'src/store/rows/folders'],
  ['annotations', 'src/store/rows/annotations.ts'],
  ['remote_accounts', ['src/sync/model/records.ts', 'src/sync/accounts/accounts']],
  ['remote_totals', 'src/sync/accounts/accounts'],
  ['remote_ended', 'src/sync/accounts/accounts-ended.ts'],
  ['remote_folders', 'src/sync/ledger/'],
  ['remote_messages', 'src/sync/ledger/'],
  ['remote_intents', 'src/sync/ledger/'],
  ['thread_folders', 'src/store/rows/'],
  ['threads', THREADS],
  ['thread_refs', 'src/store/entries/'],
  ['thread_totals', 'src/store/entries/'],
  ['drafts', 'src/store/mailbox/drafts'],
  ['correspondents', ['src/store/search/correspondents.ts', 'src/store/messages/purge.ts']],
  ['messages', MESSAGES],
  ['removed_messages', 'src/store/messages/'],
  ['message_headers', ['src/store/entries/headers.ts', 'src/store/entries/folders-orders.ts']],
  ['outline_progress', 'src/store/messages/'],
  ['message_totals', MESSAGES],
  [
    'message_keywords',
    ['src/store/entries/keywords.ts', 'src/store/entries/thread-messages.ts', 'src/store/messages/'],
  ],
  ['attachments', 'src/store/messages/'],
  ['unfinished_copies', 'src/store/messages/'],
  ['undo_records', 'src/store/messages/undo-records.ts'],
  ['message_text', 'src/store/search/'],
  ['text_renewal', 'src/store/messages/reindexing.ts'],
  ['recent_deliveries', 'src/store/mailbox/recent-copies.ts'],
  ['local_copies', 'src/store/mailbox/recent-copies.ts'],
  ['uploads', 'src/store/content/uploads.ts'],
  ['inbound_log', 'src/store/log/inbound-log.ts'],
  ['submissions', 'src/store/mailbox/submissions.ts'],
  ['identities', 'src/store/mailbox/identities.ts'],
  ['account_quotas', 'src/store/mailbox/quotas.ts'],
  ['sent_hours', 'src/store/log/sent-hours.ts'],
  ['vacation_responses', 'src/store/mailbox/vacations.ts'],
  ['vacation_senders', 'src/store/mailbox/vacations.ts'],
  ['vacation_due', 'src/store/mailbox/vacations.ts'],
  ['forwarded', 'src/store/mailbox/forwarded.ts'],
  ['spam_labels', 'src/store/messages/spam-labels.ts'],
  ['spam_due', 'src/store/messages/spam-labels.ts'],
  ['spam_models', 'src/store/mailbox/spam-models.ts'],
  ['script_ids', 'src/store/mailbox/script-ids.ts'],
  ['script_notifications', 'src/store/mailbox/script-notifications.ts'],
  ['tls_reports', 'src/deliverability/'],
  ['tls_rows', 'src/deliverability/'],
  ['acme_accounts', 'src/certificates/'],
  ['certificates', 'src/certificates/'],
  ['certificate_keys', 'src/certificates/'],
  ['certificate_versions', 'src/certificates/'],
  ['acme_orders', 'src/certificates/'],
  ['acme_challenges', 'src/certificates/'],
  ['operator_keys', 'src/directory/keys/operator-keys.ts'],
  ['dkim_keys', 'src/directory/domains/dkim-keys.ts'],
  ['members', 'src/people/'],
  ['sign_in_links', 'src/people/'],
  ['sign_in_mails', 'src/people/'],
  ['sessions', 'src/people/'],
  ['persons', 'src/people/'],
  ['passkeys', 'src/people/'],
  ['recovery_codes', 'src/people/'],
  ['mailbox_grants', 'src/people/'],
  ['known_devices', 'src/people/'],
  ['audit_entries', 'src/people/'],
  ['former_members', 'src/people/'],
  ['noticed_facts', 'src/people/'],
  ['agent_registrations', 'src/agents/'],
  ['agent_proofs', 'src/agents/'],
  ['agent_tokens', 'src/agents/'],
  ['agent_keys', 'src/agents/'],
  ['agent_sends', 'src/agents/'],
  ['agent_switches', 'src/agents/'],
  ['owner_invites', 'src/agents/'],
  ['invite_dispatches', 'src/agents/'],
  ['invite_opt_outs', 'src/agents/'],
  ['providers', [OUTBOUND_RECORDS, 'src/outbound/providers/']],
  ['quota_counts', 'src/outbound/providers/quotas.ts'],
  ['oauth_states', 'src/outbound/providers/states.ts'],
  ['delivery_groups', 'src/outbound/providers/groups.ts'],
  ['routing_rules', 'src/outbound/providers/routing-rules.ts'],
  ['delivery_group_members', 'src/outbound/providers/groups.ts'],
  ['shared_limits', 'src/outbound/providers/shared-limit.ts'],
  ['limit_requests', 'src/outbound/providers/shared-limit'],
  ['emails', [OUTBOUND_RECORDS, 'src/outbound/log/', 'src/outbound/queue/delivery-transitions.ts']],
  ['deliveries', [OUTBOUND_RECORDS, 'src/outbound/log/', 'src/outbound/queue/delivery-transitions.ts']],
  ['kept_contents', 'src/outbound/log/kept-contents.ts'],
  ['remote_ids', 'src/outbound/log/'],
  ['queue', 'src/outbound/queue/queue.ts'],
  ['send_policies', 'src/outbound/held/'],
  ['held_messages', 'src/outbound/held/'],
  ['held_links', 'src/outbound/held/'],
  ['known_contacts', 'src/outbound/held/'],
  ['stranger_reads', 'src/outbound/held/'],
  ['suppressions', 'src/outbound/queue/suppressions.ts'],
  ['tls_policies', 'src/outbound/tls/'],
  ['report_intake', 'src/deliverability/'],
  ['dmarc_reports', 'src/deliverability/'],
  ['dmarc_rows', 'src/deliverability/'],
  ['billing_accounts', 'src/outbound/billing/'],
  ['billing_transactions', 'src/outbound/billing/'],
  ['billing_meters', 'src/outbound/billing/'],
  ['mail_counts', 'src/store/log/'],
  ['tag_counts', 'src/store/log/'],
  ['events', 'src/events/'],
  ['webhooks', 'src/events/webhooks/'],
  ['webhook_queue', 'src/events/webhooks/'],
  ['webhook_attempts', 'src/events/webhooks/'],
  ['appliance', 'src/store/appliance/'],
  ['wrong_times', 'src/store/appliance/'],
  ['content_owner', 'src/store/appliance/'],
  ['blobs', 'src/store/content/blobs'],
  ['chunks', 'src/store/content/blobs'],
  ['unclaimed_blobs', 'src/store/content/blobs.ts'],
  ['damaged_blobs', 'src/store/content/blobs-damaged.ts'],
])

const SQL =
  /\b(?:SELECT\s[\s\S]*\sFROM\s|INSERT\s+(?:OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|CREATE\s+(?:TABLE|INDEX|UNIQUE|VIRTUAL)\b|PRAGMA\s|BEGIN\s+IMMEDIATE|SAVEPOINT\s)/
const TABLE_PLACE = /\b(?:FROM|JOIN|INTO|UPDATE|TABLE(?: IF NOT EXISTS)?)\s+([a-z_]+)/g

const all = sources()
const isMigration = ({ path }: Source) => path.startsWith('src/db/migrations/')

/** The tables the migrations make. */
function tables(): string[] {
  const made = new Set<string>()
  const tx = {
    run(sql: string) {
      const created = /CREATE (?:VIRTUAL )?TABLE (\w+)/.exec(sql)?.[1]
      if (created !== undefined) made.add(created)
      const [, before, after] = /ALTER TABLE (\w+) RENAME TO (\w+)/.exec(sql) ?? []
      if (before !== undefined && made.delete(before)) made.add(after!)
    },
  }
  for (const step of [...mailMigrations, ...blobMigrations]) step.up(tx as never)
  return [...made]
}

/** Tables one file names: in its SQL, and as the first argument of `insert` and `table`. */
function tablesNamed(source: Source): { table: string; line: number }[] {
  const inSql = source.literals.flatMap(({ line, text }) =>
    [...text.matchAll(TABLE_PLACE)].map(([, table]) => ({ table: table!, line })),
  )
  const inserted = source.calls
    .filter(({ callee }) => callee.endsWith('.insert') || callee === 'table')
    .map(({ argument, line }) => ({ table: argument, line }))
  return [...inSql, ...inserted].filter(({ table }) => OWNERS.has(table))
}

test('one driver of SQLite, and it is opened only in db/', () => {
  const wrong = all.flatMap(({ path, imports }) =>
    imports
      .filter(({ specifier }) => /^(?:node:sqlite|sqlite3|better-sqlite3)$/.test(specifier))
      .filter(() => !path.startsWith('src/db/'))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  )
  assert.deepEqual(wrong, [])
})

test('SQL is written only where it may be', () => {
  const outside = all.filter(({ path }) => !SQL_ROOMS.includes(path.split('/')[1]!))
  const wrong = outside.flatMap(({ path, literals }) =>
    literals.filter(({ text }) => SQL.test(text)).map(({ line, text }) => `${path}:${line} ${text.slice(0, 60)}`),
  )
  assert.deepEqual(wrong, [])
})

test('every table has an owner', () => {
  const known = [...OWNERS.keys()].filter((table) => table !== 'migrations').sort()
  assert.deepEqual(tables().sort(), known)
})

test('the declaration of a table is imported only by its owner', () => {
  const wrong = all.flatMap(({ path: declaring, text }) =>
    [...text.matchAll(/export const (\w+) = table\('(\w+)'/g)].flatMap(([, constant, table]) =>
      all
        .filter(({ imports }) => imports.some(({ file, names }) => file === declaring && names.includes(constant!)))
        .filter(({ path }) => ![OWNERS.get(table!)!].flat().some((start) => path.startsWith(start)))
        .map(({ path }) => `${path} imports ${constant}, the table of ${declaring}`),
    ),
  )
  assert.deepEqual(wrong, [])
})

test('a table is named only by its owner', () => {
  const wrong = all
    .filter((source) => !isMigration(source))
    .flatMap((source) =>
      tablesNamed(source)
        .filter(({ table }) => ![OWNERS.get(table)!].flat().some((start) => source.path.startsWith(start)))
        .map(({ table, line }) => `${source.path}:${line} names ${table}, which belongs to ${OWNERS.get(table)}`),
    )
  assert.deepEqual(wrong, [])
})

type AnyTable = Table<Record<string, never>>

/** Type in SQLite by the kind of a declared column. */
const SQL_TYPES = {
  ...{ text: 'TEXT', json: 'TEXT', integer: 'INTEGER', flag: 'INTEGER', time: 'INTEGER', real: 'REAL', bytes: 'BLOB' },
}

/** The columns of a table of a new data folder: type, whether NULL is possible, and DEFAULT. */
function columnsMade(database: DatabaseSync, table: string): Record<string, string> {
  const columns = database.prepare('SELECT * FROM pragma_table_info(?)').all(table)
  return Object.fromEntries(
    columns.map(({ name, type, notnull, pk, dflt_value }) => [
      name,
      // SQLite assigns the value of an integer key that is NULL.
      `${type} ${notnull === 1 || (pk === 1 && type === 'INTEGER') ? 'NOT NULL' : 'NULL'} ${dflt_value}`,
    ]),
  )
}

/** The same of a declaration. */
function columnsDeclared({ declared }: AnyTable): Record<string, string> {
  return Object.fromEntries(
    Object.entries<{ traits: Record<string, unknown> }>(declared).map(([name, { traits }]) => {
      const fallback = typeof traits.fallback === 'string' ? `'${traits.fallback}'` : traits.fallback
      return [name, `${SQL_TYPES[traits.kind as 'text']} ${traits.isNullable ? 'NULL' : 'NOT NULL'} ${fallback}`]
    }),
  )
}

test('every declared table has the columns that the migrations make', async () => {
  const declaring = all.flatMap(({ path, calls }) => calls.filter(({ callee }) => callee === 'table').map(() => path))
  const modules = await Promise.all([...new Set(declaring)].map((path) => import(join(ROOT, path))))
  const declared = modules
    .flatMap((module) => Object.values(module))
    .filter((value): value is AnyTable => value instanceof Table)
  assert.equal(declared.length, declaring.length, 'a declaration is not exported')
  using database = new DatabaseSync(':memory:')
  const tx = { run: (sql: string) => database.exec(sql) }
  for (const step of [...mailMigrations, ...blobMigrations]) step.up(tx as never)
  for (const table of declared) {
    assert.deepEqual(columnsDeclared(table), columnsMade(database, table.name), table.name)
  }
})
