// Above the list: the search, what the list is narrowed to, how long it is, and what is done with those that are ticked.

import { useEffect, useState } from 'preact/hooks'
import { IconButton } from '../../parts/button.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { mail as words } from '../../words/en/mail.ts'
import { commandButton } from '../command-buttons.ts'
import { commandsFor, isInMenu, run } from '../commands.ts'
import { LabelMenu } from '../labels.tsx'
import { clearSelection, placeName, selection, useMail } from '../mail-context.ts'
import { listOf, SHOWN, searchOf } from '../places.ts'
import { MOST_SELECTED, selectAll } from '../selection.ts'

/** Selected conversations of which the buttons take their words. */
const MOST_LOOKED_AT = 100
/** After the last key before the search is asked. */
const PAUSE_MS = 30

export function ListHead({ openFolders }: { openFolders: () => void }) {
  const { folder, place, list } = useMail()
  const total = list?.total.value ?? null
  return (
    <div class="list-head">
      <div class="list-title">
        <span class="folders-button">
          <IconButton icon="menu" label={words.openFolders} controls="mail-side" onPress={openFolders} />
        </span>
        <span class="list-name" aria-hidden="true">
          {placeName(place, folder)}
        </span>
        {folder !== null && folder.unread_threads > 0 && (
          <span class="soft list-unread">{words.unreadCount(folder.unread_threads)}</span>
        )}
      </div>
      <SearchBox />
      {selection.value.size > 0 ? <SelectionBar /> : <Narrowing total={total} />}
    </div>
  )
}

function SearchBox() {
  const { place, data, go } = useMail()
  const [text, setText] = useState(place.q)
  const { email } = data.mailbox
  useEffect(() => setText(place.q), [place.q])
  useEffect(() => {
    if (text === place.q) return undefined
    const timer = setTimeout(() => go(searchOf(email, text), place.q !== ''), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <Form class="mail-search" onSubmit={() => go(searchOf(email, text), true)}>
      <Icon name="search" tone="soft" />
      <input
        type="search"
        data-search
        value={text}
        aria-label={words.search}
        placeholder={words.search}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          setText('')
          event.currentTarget.blur()
          document.querySelector<HTMLElement>('.window-list')?.focus()
        }}
      />
      {text === '' ? (
        <span class="key-hint" aria-hidden="true">
          /
        </span>
      ) : (
        <IconButton icon="x" label={words.clearSearch} isTiny onPress={() => setText('')} />
      )}
    </Form>
  )
}

function Narrowing({ total }: { total: number | null }) {
  const mail = useMail()
  const { place, go, data } = mail
  return (
    <div class="list-filters">
      {data.mayChange && total !== null && total > 0 && (
        <span class="select-all">
          <IconButton icon="square" label={words.selectAll} onPress={() => void selectAll(mail)} />
        </span>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would be drawn as one */}
      <div class="pills" role="group" aria-label={words.showOnly}>
        {SHOWN.map((name) => (
          <button
            key={name}
            type="button"
            class="pill"
            aria-pressed={place.shown === name}
            onClick={() => go({ ...listOf(place), shown: name })}
          >
            {words.shown[name]}
          </button>
        ))}
      </div>
      <span class="soft meta end" role="status">
        {total === null ? '' : words.total(total)}
      </span>
    </div>
  )
}

function SelectionBar() {
  const mail = useMail()
  const ids = [...selection.value]
  const total = mail.list?.total.value ?? 0
  // What the buttons say follows the first of many.
  const threads = ids.slice(0, MOST_LOOKED_AT).flatMap((id) => mail.data.threads.get(id).value ?? [])
  return (
    <div class="list-filters" role="toolbar" aria-label={words.actions}>
      <IconButton icon="x" label={words.clearSelection} onPress={clearSelection} />
      <span class="strong" role="status">
        {ids.length === MOST_SELECTED && total > ids.length
          ? words.selectedFirst(ids.length, total)
          : words.selected(ids.length)}
      </span>
      <span class="row end">
        {commandsFor(mail)
          .filter((command) => !isInMenu(command))
          .map((command) => {
            const { icon, label } = commandButton(command, threads, mail.folder)
            return <IconButton key={command} icon={icon} label={label} onPress={() => run(mail, command, ids)} />
          })}
        {mail.data.mayChange && <LabelMenu ids={ids} threads={threads} />}
      </span>
    </div>
  )
}
