// The client of the API: `/as/{actor}/…` with the cookie of the person, `/me/v1` for what concerns the person.

import { type Signal, signal } from '@preact/signals'
import createClient, { type Client } from 'openapi-fetch'
import { type ApiError, errorOf, noAnswer } from './errors.ts'
import type { paths } from './schema.d.ts'
import type { paths as PersonPaths } from './schema-me.d.ts'
import type { paths as OperatorPaths } from './schema-operator.d.ts'

export type Api = Client<paths>

/** One part of a list; `next` is the cursor of the following part. */
export interface ListPart<T> {
  items: T[]
  next: string | null
}

/** A question that requests wait for; called with whether the person did what it asks. */
type Question = Signal<((isDone: boolean) => void) | null>

/** Set while a request waits for the person to prove who they are. */
export const proofWanted: Question = signal(null)

/** Set while requests wait for the person to sign in again, because the session has ended. */
export const signInWanted: Question = signal(null)

/** Set once a session is known: before, a request without a session waits for nothing. */
export const hasSession = signal(false)

/** How many requests wait for their answer. */
export const underWay = signal(0)

const clients = new Map<string, Api>()

/** The API as a team or a mailbox. */
export function apiAs(actor: string): Api {
  const known = clients.get(actor)
  if (known !== undefined) return known
  const client = createClient<paths>({ baseUrl: `/as/${actor}/api/v1`, fetch: send })
  clients.set(actor, client)
  return client
}

/** The API of the server as a whole, for its operators. */
export const operatorApi: Client<OperatorPaths> = createClient<OperatorPaths>({ baseUrl: '/as/operator', fetch: send })

/** What concerns the signed-in person. */
export const meApi: Client<PersonPaths> = createClient<PersonPaths>({ baseUrl: '/me/v1', fetch: send })

/** Requests that prove who a person is, or end the session: 401 says that the proof is wrong, or that nothing is left to do. */
const PROOFS = /^\/me\/v1\/(?:sign-in|confirm|first-run|session$)/
const SELF = '/me/v1/self'

/** Sends a request; asks for a new session or a fresh proof when the server wants one, and repeats it once. */
async function send(request: Request): Promise<Response> {
  const first = withMark(request)
  const again = first.clone()
  const response = await answerOf(first)
  if (response.status === 401 && waitsForSession(new URL(request.url).pathname)) {
    return (await ask(signInWanted)) ? answerOf(again) : response
  }
  if (response.status !== 403 || !(await wantsProof(response))) return response
  return (await ask(proofWanted)) ? answerOf(again) : response
}

/** While the person is asked to sign in, the question itself looks who is signed in. */
function waitsForSession(path: string): boolean {
  return hasSession.value && !PROOFS.test(path) && (path !== SELF || signInWanted.value === null)
}

const answers = new Map<Question, Promise<boolean>>()

/** One question for all requests that wait for the same. */
function ask(question: Question): Promise<boolean> {
  const waiting = answers.get(question)
  if (waiting !== undefined) return waiting
  const answer = new Promise<boolean>((resolve) => {
    question.value = resolve
  }).finally(() => {
    question.value = null
    answers.delete(question)
  })
  answers.set(question, answer)
  return answer
}

/** The header that no other site can send. */
function withMark(request: Request): Request {
  const marked = new Request(request)
  marked.headers.set('X-Mailstead', '1')
  return marked
}

async function answerOf(request: Request): Promise<Response> {
  underWay.value++
  try {
    return await fetch(request)
  } catch (error) {
    if (request.signal.aborted) throw error
    throw noAnswer()
  } finally {
    underWay.value--
  }
}

async function wantsProof(response: Response): Promise<boolean> {
  const { error } = (await response
    .clone()
    .json()
    .catch(() => ({}))) as { error?: { param?: string } }
  return error?.param === 'confirm'
}

interface Answered {
  data?: unknown
  error?: unknown
  response: Response
}

/** The `data` of an answer. @throws ApiError */
export async function take<T>(
  answer: Promise<{ data?: { data: T }; error?: unknown; response: Response }>,
): Promise<T> {
  const { data, error, response } = await answer
  if (data === undefined) throw failure({ error, response })
  return data.data
}

/** The `data` of an answer with its tag, for a later change that names it in If-Match. @throws ApiError */
export async function takeTagged<T>(
  answer: Promise<{ data?: { data: T }; error?: unknown; response: Response }>,
): Promise<{ value: T; tag: string }> {
  const { data, error, response } = await answer
  if (data === undefined) throw failure({ error, response })
  return { value: data.data, tag: response.headers.get('ETag') ?? '*' }
}

/** One part of a list. @throws ApiError */
export async function takeList<T>(
  answer: Promise<{
    data?: { data: T[]; pagination: { has_more: boolean; next_cursor?: string | null } }
    error?: unknown
    response: Response
  }>,
): Promise<ListPart<T>> {
  const { data, error, response } = await answer
  if (data === undefined) throw failure({ error, response })
  return { items: data.data, next: data.pagination.next_cursor ?? null }
}

/** A text. @throws ApiError */
export async function takeText(answer: Promise<Answered>): Promise<string> {
  const { data, error, response } = await answer
  if (!response.ok) throw failure({ error, response })
  return String(data)
}

/** Nothing but success. @throws ApiError */
export async function done(answer: Promise<Answered>): Promise<void> {
  const { error, response } = await answer
  if (!response.ok) throw failure({ error, response })
}

function failure({ error, response }: Answered): ApiError {
  return errorOf(response.status, error)
}
