// What a draft may be made of: the strict grammar of addresses, subjects and header fields at the API's edge (decisions §8.1).

import type { DraftHeader } from './draft.ts'
import type { Address } from './mail.ts'

/** An address as it was given; "" counts as no name. */
export interface GivenAddress {
  email: string
  name?: string | null
}

/** What custom headers come to. Those the draft has members for are taken out of the list. */
export interface CheckedHeaders {
  headers: DraftHeader[]
  /** From a Reply-To field; empty without one. */
  replyTo: Address[]
  /** From an In-Reply-To field, without angle brackets. */
  inReplyTo: string | null
  /** From a References field, without angle brackets. */
  references: string[]
}

/**
 * One address of the message: a recipient, the sender, or where replies go.
 * @param field where it stands in the message, such as `to` or `cc.3`
 * @returns the domain in lower-case A-labels, the local part as it was, `name` "" where there is none
 * @throws ProductError validation_error on `<field>.email` or `<field>.name`
 */
export function checkRecipient(_field: string, _given: GivenAddress): Address {
  throw new Error('not built')
}

/**
 * An address without a name, such as `return_path`.
 * @throws ProductError validation_error on `field`
 */
export function checkEmail(_field: string, _email: string): string {
  throw new Error('not built')
}

/** @throws ProductError validation_error on `field`, missing_parameter where it is empty */
export function checkSubject(_field: string, _subject: string): string {
  throw new Error('not built')
}

/**
 * The bodies of a message; an empty one counts as absent.
 * @throws ProductError missing_parameter when there is none, validation_error on `text_body` or `html_body`
 */
export function checkBodies(_given: { text?: string | null; html?: string | null }): {
  textBody: string | null
  htmlBody: string | null
} {
  throw new Error('not built')
}

/**
 * Custom headers by name, in the order given.
 * @throws ProductError validation_error on `field`, or on `<field>.<name>` where a value is at fault
 */
export function checkHeaders(_field: string, _given: Readonly<Record<string, string>>): CheckedHeaders {
  throw new Error('not built')
}
