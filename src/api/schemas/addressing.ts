// The address rules of a domain, what an address resolves to, and retired addresses.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { type AddressRules, PATTERNS_MAX, SEPARATORS_MAX } from '../../directory/mailboxes/addressing.ts'
import { ADDRESS_STEPS, type ReceiverLookup } from '../../directory/mailboxes/receiver.ts'
import type { RetiredAddress } from '../../directory/mailboxes/retired-addresses.ts'
import { Id, Words } from '../../http/schema.ts'
import { SEPARATORS } from '../../mime/local-patterns.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

const MAILBOX_ID = 'mbx_0a1b2c3d4e5f6g7h8i9j0k1l'

const AddressPatternJson = record(
  'AddressPattern',
  'Addresses that lead to a mailbox without an alias.',
  {
    pattern: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'The part before the @ with one `*`, which stands for any text; `*` alone is the catch-all.',
    }),
    mailbox_id: Id('mailbox'),
  },
  { pattern: 'shop-*', mailbox_id: MAILBOX_ID },
)

export const AddressingJson = record(
  'DomainAddressing',
  'What a domain does with addresses that no mailbox and no alias has.',
  {
    separators: Type.Array(Words([...SEPARATORS]), {
      minItems: 1,
      maxItems: SEPARATORS_MAX,
      description: 'Characters that begin a sub-address (RFC 5233): with `-`, mail to `ana-news@` reaches `ana@`.',
    }),
    patterns: Type.Array(AddressPatternJson, {
      maxItems: PATTERNS_MAX,
      description: 'Tried when nothing else matches: those with the most characters first, then the older.',
    }),
  },
  { separators: ['+'], patterns: [{ pattern: 'shop-*', mailbox_id: MAILBOX_ID }] },
)
export type AddressingJson = Static<typeof AddressingJson>

const STEPS = [...ADDRESS_STEPS, 'none'] as const

export const ResolvedAddressJson = record(
  'ResolvedAddress',
  'Where mail to an address goes.',
  {
    step: Words(
      [...STEPS],
      '`address`: a mailbox or an alias has it. `throw_away`: a mailbox made it for one correspondent. `sub_address`: what is left without its tag. `role`: postmaster and abuse. `pattern`: of ' +
        'the domain. `none`: it is refused.',
    ),
    mailbox_id: Type.Union([Id('mailbox'), Type.Null()]),
    text: Type.String({ description: 'The same as a sentence.' }),
  },
  { step: 'pattern', mailbox_id: MAILBOX_ID, text: 'A pattern of the domain leads to ana@shop.example.' },
)

export const RetiredAddressJson = record(
  'RetiredAddress',
  'An address that ended with its mailbox or alias: no pattern matches it until it is taken again.',
  {
    email: Type.String({ description: 'Lower-case address.' }),
    retired_at: TimeOf('When it ended.'),
  },
  { email: 'old@shop.example', retired_at: '2030-01-02T03:04:05.000Z' },
)

export function presentAddressing({ separators, patterns }: AddressRules): AddressingJson {
  return {
    separators: [...separators],
    patterns: patterns.map(({ pattern, mailboxId }) => ({ pattern, mailbox_id: mailboxId })),
  }
}

export function presentResolved(receiver: ReceiverLookup): Static<typeof ResolvedAddressJson> {
  const { reason } = receiver
  if (reason === null) {
    const { step, mailbox } = receiver
    return { step, mailbox_id: mailbox.id, text: SENTENCES[step](mailbox.email) }
  }
  const mailboxId = 'mailbox' in receiver ? receiver.mailbox.id : null
  return { step: 'none', mailbox_id: mailboxId, text: REFUSALS[reason] }
}

const REFUSALS: Record<NonNullable<ReceiverLookup['reason']>, string> = {
  unknown_domain: 'The domain does not receive here: verify it first.',
  unknown_recipient: 'No mailbox, no alias and no pattern has the address.',
  mailbox_suspended: 'Its mailbox is suspended.',
  address_paused: 'It is a throw-away address that is paused.',
  team_suspended: 'The team is suspended.',
}

const SENTENCES = {
  address: (email: string) => `It is an address of ${email}.`,
  throw_away: (email: string) => `It is a throw-away address of ${email}.`,
  sub_address: (email: string) => `Without its tag it is an address of ${email}.`,
  role: (email: string) => `Mail to this name goes to ${email}, the oldest mailbox.`,
  pattern: (email: string) => `A pattern of the domain leads to ${email}.`,
}

export function presentRetired({ email, retiredAt }: RetiredAddress): Static<typeof RetiredAddressJson> {
  return { email, retired_at: isoTime(retiredAt) }
}
