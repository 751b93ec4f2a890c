// Assertions about every response of the API.

import assert from 'node:assert/strict'
import type { Reply, TestAppliance } from '../support/appliance.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'

/** The envelope of an answer; `T` is the type of its record. */
export interface Envelope<T> {
  ok: boolean
  data: T
  pagination?: { has_more: boolean; next_cursor?: string }
  meta: { request_id: string; state?: string; query_state?: string }
}

export interface Failure {
  code: string
  message: string
  retryable: boolean
  param?: string
  doc_url?: string
  errors?: { field: string; code: string; message: string }[]
}

/** A success, whole. */
export function success<T>(reply: Reply, status = 200): Envelope<T> {
  assert.equal(reply.status, status, JSON.stringify(reply.body))
  const body = reply.body as unknown as Envelope<T>
  assert.equal(body.ok, true)
  assert.equal(body.meta.request_id, reply.headers.get('x-request-id'))
  return body
}

/** `data` of a success. */
export function data<T>(reply: Reply, status = 200): T {
  return success<T>(reply, status).data
}

/** `error` of a failure. */
export function failure(reply: Reply, status: number, code: string): Failure {
  assert.equal(reply.status, status, JSON.stringify(reply.body))
  const body = reply.body as unknown as { ok: boolean; error: Failure; meta: { request_id: string } }
  assert.equal(body.ok, false)
  assert.equal(body.error.code, code, JSON.stringify(body.error))
  assert.equal(typeof body.error.message, 'string')
  assert.equal(body.meta.request_id, reply.headers.get('x-request-id'))
  return body.error
}

/** A failure with exactly these issues, as `field code`. */
export function issues(reply: Reply, status: number, code: string, expected: string[]): void {
  const error = failure(reply, status, code)
  assert.deepEqual(
    error.errors?.map((issue) => `${issue.field} ${issue.code}`),
    expected,
  )
  assert.equal(error.param, error.errors?.[0]?.field)
}

export function etagOf(reply: Reply): string {
  const etag = reply.headers.get('etag')
  assert.match(etag ?? '', /^W\/"[\w-]{27}"$/)
  return etag!
}

/** Walks a list to its end. @returns all entries in the order of the pages */
export async function walk<T>(appliance: TestAppliance, path: string, key: string): Promise<T[]> {
  const items: T[] = []
  let cursor: string | undefined
  do {
    const separator = path.includes('?') ? '&' : '?'
    const page = success<T[]>(
      await appliance.get(cursor === undefined ? path : `${path}${separator}cursor=${cursor}`, key),
    )
    items.push(...page.data)
    cursor = page.pagination!.next_cursor
    assert.equal(page.pagination!.has_more, cursor !== undefined)
  } while (cursor !== undefined)
  return items
}

/** Submits a message over SMTP as an external client; it is readable when this returns. */
export async function receive(
  appliance: TestAppliance,
  mail: { from?: string; to: string | string[]; subject?: string; text?: string; id?: string; more?: string[] },
): Promise<void> {
  const { from = 'bob@else.test', to, ...rest } = mail
  await receiveRaw(appliance, { from, to, content: plainMail({ from, to: [to].flat()[0]!, ...rest }) })
}

/** The same with bytes as they are. */
export async function receiveRaw(
  appliance: TestAppliance,
  mail: { from: string; to: string | string[]; content: string | Buffer },
): Promise<void> {
  await using client = await SmtpClient.greet(appliance.ports.smtp)
  const reply = await client.mail(mail)
  assert.equal(reply.code, 250, reply.text)
}
