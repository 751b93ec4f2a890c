// Requests with an Idempotency-Key: executed once; repetitions get the stored answer (docs/design/http.md §8).

import { canonicalJson } from '../base/canonical-json.ts'
import { ProductError } from '../base/errors.ts'
import { sha256, type Vault } from '../base/secrets.ts'
import type { Tx } from '../db/db.ts'
import { ownerOf } from './owner.ts'
import { type JsonAnswer, outcomeOf, type SendableAnswer } from './reply.ts'
import type { RequestContext } from './request-context.ts'
import { type Answer, answer, isBytes, isPage, isStream } from './route.ts'

const IN_FLIGHT_RETRY_SECONDS = 1

type Work = () => Promise<SendableAnswer> | SendableAnswer

/** Runs `work` unless the same request was completed under the same key; then returns the stored answer. */
export function runOnce(request: RequestContext, work: Work): Promise<SendableAnswer> | SendableAnswer {
  const key = request.header('idempotency-key')
  return key === undefined || !request.match.entry!.route.idempotent ? work() : runForKey(request, work, key)
}

async function runForKey(request: RequestContext, work: Work, key: string): Promise<SendableAnswer> {
  const { route } = request.match.entry!
  const { replays } = request.listener.app.directory
  // The key itself is not stored: it decrypts sealed answers.
  const scope = sha256(canonicalJson([ownerOf(request), route.method, route.path, key])).toString('base64url')
  const body = Buffer.from(request.bodyDigest ?? []).toString('hex')
  // A stored secret is returned only to the same credential: another one of the team may have fewer permissions.
  const keyScope = route.secret === true ? [request.principal?.keyId ?? null] : []
  const claim = await replays.claim(scope, sha256(canonicalJson([body, request.input.params, ...keyScope])))
  if (claim.kind === 'running') {
    throw new ProductError(
      'idempotency_conflict',
      'The request with this Idempotency-Key is still being processed. Wait, then try again.',
      {
        param: 'Idempotency-Key',
        retryAfter: IN_FLIGHT_RETRY_SECONDS,
      },
    )
  }
  if (claim.kind === 'other') {
    throw new ProductError(
      'idempotency_conflict',
      `The Idempotency-Key was used with a different body${keyScope.length === 0 ? '' : ', or by another API key'}.`,
      {
        param: 'Idempotency-Key',
      },
    )
  }
  const box = answerCodec(request.listener.app.vault, route.secret === true ? key : null)
  if (claim.kind === 'done') {
    request.set('Idempotent-Replayed', 'true')
    return { ...box.open(claim.body), status: claim.status }
  }
  return runClaimed(request, work, { scope, lock: claim.lock, box })
}

interface ClaimedReplay {
  scope: string
  lock: string
  box: AnswerCodec
}

/** Runs `work` for the request that claimed the key, and stores the answer unless `work` stored it in its unit of work. */
async function runClaimed(
  request: RequestContext,
  work: Work,
  { scope, lock, box }: ClaimedReplay,
): Promise<SendableAnswer> {
  const { directory, log } = request.listener.app
  const { replays } = directory
  const replay = {
    kept: false,
    keep(tx: Tx, value: Answer) {
      const outcome = outcomeOf(request, answer(value)) as JsonAnswer
      replays.keepIn(tx, scope, lock, outcome.status, box.close(outcome))
      tx.afterCommit(() => {
        replay.kept = true
      })
    },
  }
  request.replay = replay
  let outcome: SendableAnswer
  try {
    outcome = await work()
    if (isBytes(outcome) || isPage(outcome) || isStream(outcome)) {
      throw new Error(`What ${request.match.entry!.route.operation} answers cannot be replayed.`)
    }
  } catch (error) {
    await replays.release(scope, lock)
    throw error
  }
  if (replay.kept) return outcome
  const isLasting = outcome.lasting !== false
  const finish = isLasting
    ? replays.keep(scope, lock, outcome.status, box.close(outcome))
    : replays.release(scope, lock)
  await finish.catch((error: unknown) => {
    // The work is committed: an error would make the client repeat it.
    log.error({ event: 'http.replay_not_stored', err: error, request_id: request.id }, 'Answer not stored for replay')
  })
  return outcome
}

interface AnswerCodec {
  close(outcome: JsonAnswer): Uint8Array
  open(bytes: Uint8Array): JsonAnswer
}

/** @param key seals the answer under HKDF(APP_SECRET, key); null stores it unsealed */
function answerCodec(vault: Vault, key: string | null): AnswerCodec {
  const purpose = `replay/${key}`
  return {
    close(outcome) {
      const text = JSON.stringify(outcome)
      return key === null ? Buffer.from(text) : vault.seal(purpose, text)
    },
    open(bytes) {
      const plain = key === null ? Buffer.from(bytes) : vault.open(purpose, bytes)
      return JSON.parse(plain.toString()) as JsonAnswer
    },
  }
}
