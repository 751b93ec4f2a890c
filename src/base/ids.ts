// Public ids: a prefix for the kind of resource, and 24 random characters.

import { randomBytes } from 'node:crypto'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'
const LENGTH = 24
// The largest multiple of 36 below 256: larger bytes are discarded, so that all characters are equally likely.
const FAIR = 252

/** Prefixes of decisions §1.1; that of aliases follows the same scheme. */
export const ID_PREFIX = {
  request: 'req_',
  team: 'team_',
  member: 'usr_',
  key: 'key_',
  domain: 'mdom_',
  mailbox: 'mbx_',
  alias: 'mals_',
  folder: 'fld_',
  thread: 'thr_',
  message: 'msg_',
  attachment: 'att_',
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

/** 24 characters of `[a-z0-9]` from a cryptographic source (124 bits). */
export function randomName(length = LENGTH): string {
  let out = ''
  while (out.length < length) {
    const byte = nextByte()
    if (byte < FAIR) out += ALPHABET[byte % 36]
  }
  return out
}

/** A new public id of a kind, such as `msg_…`. */
export function newId(kind: IdKind): string {
  return ID_PREFIX[kind] + randomName()
}

/** A regular expression for ids of this kind; an id that matches need not exist. */
export function idPattern(kind: IdKind): string {
  return `^${ID_PREFIX[kind]}[a-z0-9]{${LENGTH}}$`
}
