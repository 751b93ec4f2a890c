// Reads a form body (application/x-www-form-urlencoded): text members, each at most once.

import { ProductError } from '../base/errors.ts'
import type { BodyPlan } from './body-plan.ts'
import { wrongBody } from './validate.ts'

/** Largest form, in bytes (docs/design/http.md §10). */
export const FORM_LIMIT = 16_384

/**
 * Reads the members of the route; others are ignored (RFC 6749 §3.2).
 * @throws ProductError 400 for a repeated or missing member or for bytes that are not UTF-8, 422 for one that breaks a rule
 */
export function readForm(plan: BodyPlan, bytes: Buffer): Record<string, unknown> {
  const form = new URLSearchParams(textOf(bytes))
  const body: Record<string, unknown> = Object.create(null)
  for (const name of plan.members) {
    const values = form.getAll(name)
    if (values.length > 1) {
      throw new ProductError('invalid_parameter', `${name} is given more than once. Send it once.`, { param: name })
    }
    if (values.length === 1) body[name] = values[0]
  }
  if (!plan.check.passes(body)) throw wrongBody(plan.check.issues(body))
  return body
}

function textOf(bytes: Buffer): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    // Escaped bytes must be UTF-8 as well.
    decodeURIComponent(text.replaceAll(/%(?![0-9a-fA-F]{2})/g, '%25'))
    return text
  } catch {
    throw new ProductError('invalid_parameter', 'The form is not valid UTF-8. Encode it as UTF-8.', { param: 'body' })
  }
}
