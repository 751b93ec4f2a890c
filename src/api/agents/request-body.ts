// Members common to the bodies of the challenge and the registration.

import { Type } from 'typebox'
import type { AgentRequest } from '../../agents/proof-of-work.ts'
import { isFreeName } from '../../agents/reserved-names.ts'
import { invalid, ProductError } from '../../base/errors.ts'
import { LIKE_ADDRESS, looksLikeAddress } from '../../mime/display-name.ts'
import { hasLink, isMailableName, notMailable } from '../../mime/one-line.ts'

/** Members of both bodies; a proof is bound to exactly these. */
export const requestMembers = {
  type: Type.Literal('anonymous', { description: 'The only identity type.' }),
  mailbox_local_part: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9][a-z0-9._-]{1,38}[a-z0-9]$',
      description: 'Local part of the inbox address. A random one is chosen when it is left out.',
      examples: ['scout'],
    }),
  ),
  client_name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 80,
      // Printable, on one line; a person sees it as an unverified label.
      pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$',
      description: 'Name of the agent. People see it as an unverified label.',
      examples: ['demo'],
    }),
  ),
  idempotency_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x21-\\x7e]*$',
      description: 'Equal to the header Idempotency-Key of the registration; a random UUID is recommended.',
      examples: ['0d0f9c0e-7f6b-4a53-9d0a-5f0f6b8b2f11'],
    }),
  ),
}

interface Members {
  type: 'anonymous'
  mailbox_local_part?: string
  client_name?: string
  idempotency_key?: string
}

/** @throws ProductError validation_error for a reserved name */
export function readRequest(body: Members): AgentRequest {
  const { type, mailbox_local_part: mailboxLocalPart, client_name: clientName, idempotency_key: idempotencyKey } = body
  if (mailboxLocalPart !== undefined && !isFreeName(mailboxLocalPart)) {
    throw invalid(
      'mailbox_local_part',
      'forbidden_value',
      'This name is reserved or contains two dots in a row. Choose another one.',
    )
  }
  if (clientName !== undefined && looksLikeAddress(clientName)) {
    throw invalid('client_name', 'forbidden_value', LIKE_ADDRESS)
  }
  if (clientName !== undefined && (hasLink(clientName) || !isMailableName(clientName))) {
    throw invalid('client_name', 'forbidden_value', notMailable('client_name'))
  }
  return {
    type,
    ...(mailboxLocalPart === undefined ? {} : { mailboxLocalPart }),
    ...(clientName === undefined ? {} : { clientName }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }
}

/** The key is also in the body so that the proof covers it. @throws ProductError invalid_parameter when the two differ */
export function requireSameKey(inBody: string | undefined, inHeader: string): void {
  if (inBody === undefined || inBody === inHeader) return
  throw new ProductError(
    'invalid_parameter',
    'idempotency_key differs from the header Idempotency-Key. Send the same value in both.',
    {
      param: 'idempotency_key',
    },
  )
}
