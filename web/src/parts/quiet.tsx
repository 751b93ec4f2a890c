// What a page shows instead of its content: loading, nothing there, an error.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiError } from '../api/errors.ts'
import { clockTime } from '../base/dates.ts'
import type { IconName } from '../look/icons.ts'
import { common } from '../words/en/common.ts'
import { Button } from './button.tsx'
import { CopyIcon } from './copy.tsx'
import { Icon } from './icon.tsx'
import { ServerText } from './server-text.tsx'

const PATIENCE_MS = 150
/** A part that needs longer does not hide the others. */
const MOST_HIDDEN_MS = 2000
const WIDTHS = ['62%', '78%', '54%', '70%', '66%', '48%']

/** Bars in the shape of rows, after a moment. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class="skeleton" role="status">
      <span class="hidden-word">{common.loading}</span>
      {isShown && WIDTHS.slice(0, rows).map((width) => <span key={width} style={{ width }} />)}
    </div>
  )
}

interface TogetherProps {
  isPending: boolean
  children: ComponentChildren
}

/** Parts with queries of their own, shown when all have an answer, or after a while: one that comes late moves nothing. */
export function Together({ isPending, children }: TogetherProps) {
  const [wasShown, setShown] = useState(false)
  useEffect(() => {
    if (!isPending) {
      setShown(true)
      return undefined
    }
    const timer = setTimeout(() => setShown(true), MOST_HIDDEN_MS)
    return () => clearTimeout(timer)
  }, [isPending])
  const isShown = wasShown || !isPending
  return (
    <>
      {!isShown && <Skeleton />}
      <div class="stack loose" hidden={!isShown}>
        {children}
      </div>
    </>
  )
}

interface EmptyProps {
  icon: IconName
  title: string
  children?: ComponentChildren
  action?: ComponentChildren
}

/** Nothing there: what would be here, and the one next step. */
export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div class="quiet-card">
      <Icon name={icon} size="large" />
      <p class="strong">{title}</p>
      {children !== undefined && <p class="soft measure">{children}</p>}
      {action}
    </div>
  )
}

/** The sentence and the advice for an error. The advice is one of the server, or of the pages with `isOwn`. */
export function describe(error: ApiError): { title: string; hint: string; isOwn?: boolean } {
  const { errors } = common
  if (error.code === 'no_answer') return { title: errors.noAnswer, hint: errors.noAnswerHint, isOwn: true }
  if (error.isOtherVersion) return { title: errors.changed, hint: errors.changedHint, isOwn: true }
  if (error.fields.length > 0)
    return { title: errors.checkFields, hint: error.fields.map(({ message }) => message).join(' ') }
  if (error.status === 404) return { title: errors.notFound, hint: error.message }
  if (error.status === 403) return { title: errors.forbidden, hint: error.message }
  return { title: errors.failed, hint: error.message }
}

/** What failed, what to do, and the id of the request. */
export function ErrorCard({ error, title, onRetry }: { error: ApiError; title?: string; onRetry?: () => void }) {
  const text = describe(error)
  return (
    <div class="error-card" role="alert">
      <Icon name="circle-x" />
      <div class="stack">
        <div>
          <p class="strong">{title ?? text.title}</p>
          <p class="soft">{text.isOwn ? text.hint : <ServerText>{text.hint}</ServerText>}</p>
        </div>
        <div class="row wrap">
          {onRetry !== undefined && (
            <Button size="short" onPress={onRetry}>
              {common.tryAgain}
            </Button>
          )}
          {error.requestId !== null && (
            <span class="row soft small">
              <code>{error.requestId}</code>
              <CopyIcon text={error.requestId} what={common.errors.requestId} />
            </span>
          )}
        </div>
      </div>
    </div>
  )
}

interface StaleProps {
  error: ApiError
  /** When what is shown was loaded, ms. */
  since: number
  onRetry: () => void
}

/** Beside what was loaded before: it is old, because asking again failed. */
export function StaleNote({ error, since, onRetry }: StaleProps) {
  const at = new Date(since).toISOString()
  return (
    <div class="tone warn" role="status">
      <Icon name="triangle-alert" />
      <div>
        {common.errors.stale(clockTime(at))} {describe(error).title}{' '}
        <Button kind="link" onPress={onRetry}>
          {common.tryAgain}
        </Button>
      </div>
    </div>
  )
}

interface SaveTroubleProps {
  /** Another person changed the record while something in the form was not saved. */
  isOvertaken: boolean
  error: ApiError | null
}

/** What stands in the way of saving a form, above its button. */
export function SaveTrouble({ isOvertaken, error }: SaveTroubleProps) {
  if (isOvertaken && (error === null || error.isOtherVersion))
    return (
      <div class="tone warn" role="alert">
        <Icon name="triangle-alert" />
        <div>{common.errors.overtaken}</div>
      </div>
    )
  return error === null ? null : <ErrorCard error={error} />
}
