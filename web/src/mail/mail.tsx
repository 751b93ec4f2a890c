// The mail pages: the folders, the list and the open conversation.

import { useEffect, useMemo, useState } from 'preact/hooks'
import { ErrorBoundary, useLocation } from 'preact-iso'
import { type ApiError, toApiError } from '../api/errors.ts'
import { self } from '../api/session.ts'
import type { OwnMailbox } from '../api/types.ts'
import { legible } from '../base/foreign-text.ts'
import { isOutdated } from '../live/state.ts'
import { Button } from '../parts/button.tsx'
import { lazyPage } from '../parts/lazy-page.tsx'
import { ToneLine } from '../parts/marks.tsx'
import { ErrorCard } from '../parts/quiet.tsx'
import { Toasts } from '../parts/toast.tsx'
import { common } from '../words/en/common.ts'
import { mail as words } from '../words/en/mail.ts'
import { shell } from '../words/en/shell.ts'
import { writings } from './compose/state.ts'
import { followMailboxes } from './follow.ts'
import { MailKeys } from './keys.tsx'
import { NewLabel } from './labels.tsx'
import { ListHead } from './list/list-head.tsx'
import { ThreadListView } from './list/thread-list.tsx'
import {
  clearSelection,
  cursor,
  dataOf,
  filterOf,
  folderOf,
  type Mail,
  MailContext,
  placeName,
  useMail,
} from './mail-context.ts'
import { hrefOf, isSearch, type Place, placeOf } from './places.ts'
import { Reader } from './reader/reader.tsx'
import { Sidebar } from './side/sidebar.tsx'
import { snoozing } from './snoozing.ts'

export function MailApp() {
  const { url, route } = useLocation()
  const place = placeOf(url)
  const mailboxes = self.value?.mailboxes ?? []
  const mailbox = place.mailbox === null ? mailboxes[0] : mailboxes.find(({ email }) => email === place.mailbox)
  useEffect(() => followMailboxes(mailboxes.map(({ id }) => id)), [mailboxes.length])
  useEffect(() => {
    if (place.mailbox === null && mailbox !== undefined) route(hrefOf({ ...place, mailbox: mailbox.email }), true)
  }, [place.mailbox])
  if (mailbox === undefined) return <NoMailbox />
  return <OpenMailbox key={mailbox.id} mailbox={mailbox} place={{ ...place, mailbox: mailbox.email }} />
}

function NoMailbox() {
  return (
    <main class="mail-none">
      <h1 tabIndex={-1}>{words.noMailbox}</h1>
      <p class="soft">{words.noMailboxHint}</p>
      <a href="/console">{shell.console}</a>
    </main>
  )
}

/** Folders are read once for each visit; the stream says when they change. */
function useFolders(mailbox: OwnMailbox) {
  const data = dataOf(mailbox)
  const [error, setError] = useState<ApiError | null>(null)
  const read = () => {
    setError(null)
    data.readFolders().catch((thrown: unknown) => setError(toApiError(thrown)))
    // Labels are marks: a list without them is of use.
    data.readLabels().catch(() => null)
  }
  useEffect(read, [data])
  return { data, folders: data.folders.value, error, read }
}

function OpenMailbox({ mailbox, place }: { mailbox: OwnMailbox; place: Place }) {
  const { route } = useLocation()
  const { data, folders, error, read } = useFolders(mailbox)
  const folder = folders === null || isSearch(place) ? null : folderOf(folders, place.folder)
  const filter = filterOf(place, folder)
  const key = JSON.stringify(filter)
  const list = useMemo(() => (filter === null ? null : data.list(filter)), [data, key])
  const href = hrefOf(place)
  const mail = useMemo<Mail>(
    () => ({ data, place, folder, list, go: (to, replace = false) => route(hrefOf(to), replace) }),
    [data, href, folder, list],
  )
  useEffect(() => {
    clearSelection()
    cursor.value = place.threadId
  }, [key])
  useEffect(() => {
    if (place.threadId === null) document.title = `${legible(placeName(place, folder))} · ${common.product}`
  }, [href, folder])
  if (folders === null) return error === null ? <Starting /> : <ErrorCard error={error} onRetry={read} />
  return (
    <MailContext.Provider value={mail}>
      <Panes />
    </MailContext.Provider>
  )
}

/** Before the folders are known: the shape of the page, and nothing else. */
function Starting() {
  return (
    <div class="mail">
      <div class="mail-side" />
      <main class="mail-list" aria-busy="true" />
      <div class="mail-reader" />
    </div>
  )
}

function Panes() {
  const mail = useMail()
  const [isSideShown, setSideShown] = useState(false)
  const { place, folder } = mail
  const isOpen = place.threadId !== null
  const where = hrefOf(place)
  useEffect(() => setSideShown(false), [where])
  return (
    <div class={`mail ${isOpen ? 'reading' : ''}`}>
      <a class="skip" href="#list">
        {words.skip}
      </a>
      <Sidebar isShown={isSideShown} />
      <main class="mail-main">
        <h1 class="hidden-word" tabIndex={-1}>
          {placeName(place, folder)}
        </h1>
        <section id="list" class="mail-list" tabIndex={-1} aria-label={words.listPane}>
          <ListHead openFolders={() => setSideShown(!isSideShown)} />
          <Notes />
          <ThreadListView />
        </section>
        <section class="mail-reader" aria-label={words.reader}>
          <Reader />
        </section>
      </main>
      <WritingLayer />
      <Toasts />
      <MailKeys />
      <NewLabel />
      <SnoozeLayer />
    </div>
  )
}

const Composers = lazyPage(() => import('./compose/composer.tsx').then((module) => module.Composers))

/** The composer is loaded with the first message that is written. */
function WritingLayer() {
  return writings.value.length === 0 ? null : (
    <ErrorBoundary>
      <Composers />
    </ErrorBoundary>
  )
}

const SnoozeDialog = lazyPage(() => import('./snooze-dialog.tsx').then((module) => module.SnoozeDialog))

function SnoozeLayer() {
  return snoozing.value === null ? null : (
    <ErrorBoundary>
      <SnoozeDialog />
    </ErrorBoundary>
  )
}

/** What the person has to know of the connection and of the program. */
function Notes() {
  return (
    <>
      {isOutdated.value && (
        <ToneLine icon="refresh-cw">
          {shell.outdated}{' '}
          <Button kind="link" onPress={() => location.reload()}>
            {shell.reload}
          </Button>
        </ToneLine>
      )}
    </>
  )
}
