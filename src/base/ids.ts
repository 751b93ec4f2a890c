// Public ids: a prefix for the kind of resource, and 24 characters: the time in milliseconds, then random ones.

import { randomBytes } from 'node:crypto'
import { systemClock } from './clock.ts'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'
const LENGTH = 24
/** Milliseconds in base 36: eight digits last until the year 2059. */
const TIME_LENGTH = 8
// The largest multiple of 36 below 256: larger bytes are discarded, so that all characters are equally likely.
const FAIR = 252

/** Prefixes of docs/design/http.md §1; that of aliases follows the same scheme. */
export const ID_PREFIX = {
  request: 'req_',
  team: 'team_',
  member: 'usr_',
  key: 'key_',
  appPassword: 'apw_',
  domain: 'mdom_',
  mailbox: 'mbx_',
  alias: 'mals_',
  throwAwayAddress: 'taddr_',
  forward: 'fwd_',
  folder: 'fld_',
  thread: 'thr_',
  message: 'msg_',
  attachment: 'att_',
  draft: 'dft_',
  inboundLog: 'ilog_',
  provider: 'dprov_',
  deliveryGroup: 'dgrp_',
  limitRequest: 'slir_',
  email: 'eml_',
  deliveryLog: 'dlog_',
  suppression: 'sup_',
  submission: 'sub_',
  event: 'evt_',
  webhook: 'whk_',
  webhookAttempt: 'whda_',
  identity: 'idn_',
  quota: 'quo_',
  sieveScript: 'sve_',
  transaction: 'btx_',
  agentRegistration: 'areg_',
  ownerInvite: 'ainv_',
  session: 'ses_',
  passkey: 'psk_',
  approval: 'apr_',
  auditEntry: 'aud_',
  remoteAccount: 'racc_',
  removedMessage: 'rmsg_',
  undo: 'undo_',
} as const

export type IdKind = keyof typeof ID_PREFIX

let pool = Buffer.alloc(0)
let used = 0

function nextByte(): number {
  if (used >= pool.length) {
    pool = randomBytes(4096)
    used = 0
  }
  return pool[used++]!
}

/** Characters of `[a-z0-9]` from a cryptographic source; 24 of them have 124 bits. */
export function randomName(length = LENGTH): string {
  let out = ''
  while (out.length < length) {
    const byte = nextByte()
    if (byte < FAIR) out += ALPHABET[byte % 36]
  }
  return out
}

/**
 * A new public id of a kind, such as `msg_…`. It begins with the time, so that new ids are written at the end of an index and not
 * each to another page of it; 16 random characters (82 bits) follow, as in a ULID.
 */
export function newId(kind: IdKind): string {
  return ID_PREFIX[kind] + systemClock.now().toString(36).padStart(TIME_LENGTH, '0') + randomName(LENGTH - TIME_LENGTH)
}

/** A regular expression for ids of this kind; an id that matches need not exist. */
export function idPattern(kind: IdKind): string {
  return `^${ID_PREFIX[kind]}[a-z0-9]{${LENGTH}}$`
}
