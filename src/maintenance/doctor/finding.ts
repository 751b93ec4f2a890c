// What one look of the doctor found, and what each check is called.

export type Level = 'ok' | 'warn' | 'fail'

/** Pages of the operator on which a finding is mended or seen in detail. */
export const REMEDY_PAGES = ['backups', 'machine', 'queue', 'records', 'settings'] as const
export type RemedyPage = (typeof REMEDY_PAGES)[number]

interface Check {
  /** For people. */
  title: string
  page: RemedyPage | null
}

const named = (title: string, page: RemedyPage | null = null): Check => ({ title, page })

/** All checks by the names that programs know them by. */
export const CHECKS = {
  account: named('Sending accounts'),
  address: named('Public addresses', 'records'),
  autoconfig: named('Set-up of mail programs'),
  backup: named('Backups', 'backups'),
  certificate: named('Automatic certificates'),
  client_dns: named('Records for mail programs'),
  client_host: named('Mail programs from outside'),
  client_port: named('Ports for mail programs'),
  clock: named('Clock'),
  clock_jump: named('Clock since the last start'),
  content_read: named('Stored messages', 'backups'),
  contents: named('Stored messages, all of them', 'backups'),
  counts: named('Counts of folders and threads'),
  data_folder: named('Data folder'),
  database: named('Pages of the databases', 'backups'),
  disk: named('Disk', 'machine'),
  domain: named('Domains'),
  exchange: named('Mail servers of the domain', 'records'),
  host_records: named('Records of the mail host', 'records'),
  free_port: named('Ports of this machine', 'settings'),
  inodes: named('Files on the disk', 'machine'),
  listing: named('Own addresses on blocklists'),
  mail_host: named('Name of the mail host', 'records'),
  open: named('Databases'),
  outlines: named('Mail programs'),
  port_25: named('Port 25 from outside'),
  port_25_in: named('Receiving on port 25'),
  port_25_out: named('Sending to port 25'),
  queue: named('Queue', 'queue'),
  outside_account: named('Outside accounts'),
  reverse_dns: named('Reverse name', 'records'),
  settings: named('Settings', 'settings'),
  spam_filter: named('Blocklists and spam filters', 'settings'),
  smtp: named('Port of the mail server'),
  smtp_port: named('Ports'),
  tls: named('Certificate', 'settings'),
  webhooks: named('Webhooks'),
} satisfies Record<string, Check>

export type CheckName = keyof typeof CHECKS

export interface Finding {
  /** What was looked at. */
  check: CheckName
  level: Level
  /** What is so, in a sentence. */
  says: string
  /** What the operator does about it; null when there is nothing to do. */
  do: string | null
  /** The command that mends it or shows more; null without one. */
  command: string | null
}

export function fine(check: CheckName, says: string): Finding {
  return { check, level: 'ok', says, do: null, command: null }
}

export function warning(check: CheckName, says: string, advice: string, command: string | null = null): Finding {
  return { check, level: 'warn', says, do: advice, command }
}

export function failing(check: CheckName, says: string, advice: string, command: string | null = null): Finding {
  return { check, level: 'fail', says, do: advice, command }
}

/** The page of the operator for a finding that needs a person. */
export function pageOf({ check, level }: Pick<Finding, 'check' | 'level'>): RemedyPage | null {
  return level === 'ok' ? null : CHECKS[check].page
}
