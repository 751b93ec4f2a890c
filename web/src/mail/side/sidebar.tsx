// The folders of the mailbox, the other mailboxes, and how much room is used.

import { useEffect, useState } from 'preact/hooks'
import { readQuotas } from '../../api/mail.ts'
import { self } from '../../api/session.ts'
import type { Folder, MailboxQuota } from '../../api/types.ts'
import { count, size } from '../../base/numbers.ts'
import type { IconName } from '../../look/icons.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Bar, Person } from '../../parts/marks.tsx'
import { compose } from '../../words/en/compose.ts'
import { mail as words } from '../../words/en/mail.ts'
import { openComposer } from '../compose/state.ts'
import { LabelDot, labelName } from '../labels.tsx'
import { folderName, isSnoozed, nameInAddress, useMail } from '../mail-context.ts'
import { hrefOf, searchOf } from '../places.ts'
import { AccountMenu } from './account-menu.tsx'

const ROLES = ['inbox', 'sent', 'drafts', 'archive', 'junk', 'trash'] as const
const ICONS: Readonly<Record<(typeof ROLES)[number], IconName>> = {
  inbox: 'inbox',
  sent: 'send',
  drafts: 'file-pen-line',
  archive: 'archive',
  junk: 'octagon-alert',
  trash: 'trash-2',
}

/** Those with a role in the order that people know, then the own ones by their path. */
function inOrder(folders: readonly Folder[]): Folder[] {
  const place = (folder: Folder) =>
    isSnoozed(folder) ? 0.5 : folder.role === null ? ROLES.length : ROLES.indexOf(folder.role)
  return [...folders].sort((a, b) => place(a) - place(b) || a.path.localeCompare(b.path))
}

/** What a number beside a folder counts: drafts that wait, and unread conversations elsewhere but in Junk, Trash and Sent. */
function countOf(folder: Folder): number {
  const { role, total_threads: total, unread_threads: unread } = folder
  if (role === 'drafts') return total
  if (isSnoozed(folder)) return 0
  return role === 'trash' || role === 'junk' || role === 'sent' ? 0 : unread
}

export function Sidebar({ isShown }: { isShown: boolean }) {
  const { data, place } = useMail()
  const folders = inOrder(data.folders.value ?? [])
  const others = (self.value?.mailboxes ?? []).filter(({ id }) => id !== data.mailbox.id)
  return (
    <nav id="mail-side" class={`mail-side ${isShown ? 'shown' : ''}`} aria-label={words.folders}>
      <AccountMenu />
      {data.maySend && (
        <div class="mail-compose">
          <Button kind="primary" icon="pencil" onPress={() => void openComposer(data, { kind: 'new' })}>
            <span class="word">{compose.compose}</span>
            <span class="key-hint" aria-hidden="true">
              c
            </span>
          </Button>
        </div>
      )}
      <ul>
        {folders.map((folder) => (
          <FolderLink key={folder.id} folder={folder} isOpen={place.folder === nameInAddress(folder)} />
        ))}
      </ul>
      <LabelLinks />
      {others.length > 0 && (
        <>
          <p class="side-head">{words.otherMailboxes}</p>
          <ul>
            {others.map(({ id, email, display_name: name, unread_threads: unread }) => (
              <li key={id}>
                <a class="side-link" href={`/mail/${encodeURIComponent(email)}/inbox`} title={email}>
                  <Person name={name ?? email} isSmall />
                  <span class="word cut">{name ?? email}</span>
                  {(unread ?? 0) > 0 && <span class="end">{count(unread!)}</span>}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      <Storage />
    </nav>
  )
}

function LabelLinks() {
  const { data, place } = useMail()
  const labels = data.labels.value
  if (labels.length === 0) return null
  return (
    <>
      <p class="side-head">{words.labels.title}</p>
      <ul>
        {labels.map((keyword) => {
          const q = `label:${keyword}`
          return (
            <li key={keyword}>
              <a
                class="side-link"
                href={hrefOf(searchOf(data.mailbox.email, q))}
                title={labelName(keyword)}
                aria-current={place.q === q ? 'page' : undefined}
              >
                <LabelDot keyword={keyword} />
                <span class="word cut">{labelName(keyword)}</span>
              </a>
            </li>
          )
        })}
      </ul>
    </>
  )
}

function FolderLink({ folder, isOpen }: { folder: Folder; isOpen: boolean }) {
  const { data } = useMail()
  const number = countOf(folder)
  const depth = folder.role === null ? folder.path.split('/').length - 1 : 0
  const href = hrefOf({
    mailbox: data.mailbox.email,
    folder: nameInAddress(folder),
    q: '',
    shown: 'all',
    threadId: null,
  })
  const name = folderName(folder)
  return (
    <li>
      <a
        class={`side-link ${number > 0 ? 'counts' : ''}`}
        href={href}
        title={name}
        aria-current={isOpen ? 'page' : undefined}
        style={{ paddingInlineStart: `${12 + depth * 16}px` }}
      >
        <Icon name={isSnoozed(folder) ? 'clock' : folder.role === null ? 'folder' : ICONS[folder.role]} />
        <span class="word cut">{name}</span>
        {number > 0 && (
          <span class="end">
            {count(number)}
            {folder.role !== 'drafts' && <span class="hidden-word">{words.unread(number)}</span>}
          </span>
        )}
      </a>
    </li>
  )
}

/** How much of the quota is used. */
function Storage() {
  const { data } = useMail()
  const [quota, setQuota] = useState<MailboxQuota | null>(null)
  useEffect(() => {
    let isGone = false
    readQuotas(data.api).then(
      (found) => isGone || setQuota(found.find(({ name }) => name === 'storage') ?? null),
      () => null,
    )
    return () => {
      isGone = true
    }
  }, [data])
  if (quota === null) return null
  const { used, hard_limit: most } = quota
  return (
    <div class="mail-storage">
      <p class="meta soft">{most === null ? words.usedAlone(size(used)) : words.used(size(used), size(most))}</p>
      {most !== null && <Bar share={used / most} />}
    </div>
  )
}
