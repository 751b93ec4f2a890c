// Requests with an Idempotency-Key: done once, answered as often as they are repeated (decisions §1.8).

import { canonicalJson } from '../base/canonical-json.ts'
import { ProductError } from '../base/errors.ts'
import { sha256, type Vault } from '../base/secrets.ts'
import type { Tx } from '../db/db.ts'
import { ownerOf } from './input.ts'
import { type Outcome, outcomeOf, type Result } from './reply.ts'
import type { Visit } from './request-context.ts'
import { type Answer, answer, isBytes, isPage, isStream } from './route.ts'

const IN_FLIGHT_RETRY_SECONDS = 1

/** Does `work` unless the same request was done before under the same key; then its answer is given again. */
export async function once(visit: Visit, work: () => Promise<Result>): Promise<Result> {
  const { route } = visit.found.entry!
  const key = visit.header('idempotency-key')
  if (key === undefined || !route.idempotent) return work()
  const { replays } = visit.desk.app.directory
  // The key itself is not kept: it opens the sealed answers.
  const scope = sha256(canonicalJson([ownerOf(visit), route.method, route.path, key])).toString('base64url')
  const body = Buffer.from(visit.bodyDigest ?? []).toString('hex')
  // A secret is shown again to the credential that was shown it: another one of the team may not be allowed so much.
  const asker = route.secret === true ? [visit.principal?.keyId ?? null] : []
  const claim = await replays.claim(scope, sha256(canonicalJson([body, visit.input.params, ...asker])))
  if (claim.kind === 'running') {
    throw new ProductError('idempotency_conflict', 'The request with this Idempotency-Key is still being processed.', {
      param: 'Idempotency-Key',
      retryAfter: IN_FLIGHT_RETRY_SECONDS,
    })
  }
  if (claim.kind === 'other') {
    throw new ProductError(
      'idempotency_conflict',
      `The Idempotency-Key was used with a different body${asker.length === 0 ? '' : ', or by another API key'}.`,
      {
        param: 'Idempotency-Key',
      },
    )
  }
  const box = answerBox(visit.desk.app.vault, route.secret === true ? key : null)
  if (claim.kind === 'done') {
    visit.ctx.set('Idempotent-Replayed', 'true')
    return { ...box.open(claim.body), status: claim.status }
  }
  return doOnce(visit, work, { scope, lock: claim.lock, box })
}

interface Held {
  scope: string
  lock: string
  box: Box
}

/** Works for whoever holds the key, and keeps the answer where that was not done together with the work. */
async function doOnce(visit: Visit, work: () => Promise<Result>, { scope, lock, box }: Held): Promise<Result> {
  const { directory, log } = visit.desk.app
  const { replays } = directory
  const replay = {
    kept: false,
    async keep(tx: Tx, value: Answer) {
      const outcome = outcomeOf(visit, answer(value)) as Outcome
      await replays.keepIn(tx, scope, lock, outcome.status, box.close(outcome))
      tx.afterCommit(() => {
        replay.kept = true
      })
    },
  }
  visit.replay = replay
  let outcome: Result
  try {
    outcome = await work()
    if (isBytes(outcome) || isPage(outcome) || isStream(outcome)) {
      throw new Error(`What ${visit.found.entry!.route.operation} answers cannot be replayed.`)
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
    // The work is done: telling the caller it failed would have it done twice.
    log.error({ err: error, request_id: visit.id }, 'an answer was not kept for replay')
  })
  return outcome
}

interface Box {
  close(outcome: Outcome): Uint8Array
  open(bytes: Uint8Array): Outcome
}

/** @param key seals the answer under HKDF(APP_SECRET, key); null keeps it as it is */
function answerBox(vault: Vault, key: string | null): Box {
  const purpose = `replay/${key}`
  return {
    close(outcome) {
      const text = JSON.stringify(outcome)
      return key === null ? Buffer.from(text) : vault.seal(purpose, text)
    },
    open(bytes) {
      const plain = key === null ? Buffer.from(bytes) : vault.open(purpose, bytes)
      return JSON.parse(plain.toString()) as Outcome
    },
  }
}
