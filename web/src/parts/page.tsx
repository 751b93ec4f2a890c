// The frame of one page: its title, a note, its actions, and the same request as a command.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { ApiError } from '../api/errors.ts'
import { type ApiRequest, curlOf } from '../base/curl.ts'
import { legible } from '../base/foreign-text.ts'
import { common } from '../words/en/common.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'
import { Menu } from './menu.tsx'
import { describe, ErrorCard } from './quiet.tsx'
import { RawJson } from './raw-json.tsx'

interface Crumb {
  href: string
  label: string
}

interface PageProps {
  title: string
  /** Beside the title, in few words. */
  note?: ComponentChildren
  /** Beside the title: a badge. */
  badge?: ComponentChildren
  /** Above the title: where the page belongs. */
  crumb?: Crumb
  /** Below the title. */
  below?: ComponentChildren
  actions?: ComponentChildren
  /** The requests of this page. */
  curl?: readonly ApiRequest[]
  /** The command on the machine that shows the same. */
  command?: string
  /** The record that the page shows, as the API gives it. */
  record?: unknown
  children: ComponentChildren
}

/** `?new=1` presses the primary button of the page once: the palette and first steps lead to an action by its address. */
function useNewInAddress() {
  const actions = useRef<HTMLDivElement>(null)
  const { path, query, route } = useLocation()
  // The page before is still shown while the one of the address is loaded.
  const [own] = useState(path)
  const isWanted = query.new !== undefined && path === own
  useEffect(() => {
    if (!isWanted) return
    const { new: _, ...others } = query
    const search = new URLSearchParams(others).toString()
    route(search === '' ? path : `${path}?${search}`, true)
    actions.current?.querySelector<HTMLElement>('button.primary')?.click()
  }, [isWanted])
  return actions
}

export function Page({ title, note, badge, crumb, below, actions, curl, command, record, children }: PageProps) {
  const pageActions = useNewInAddress()
  useEffect(() => {
    document.title = `${legible(title)} · ${common.product}`
  }, [title])
  return (
    <>
      <div class="page-head">
        {crumb !== undefined && (
          <p class="crumb">
            <a href={crumb.href}>{crumb.label}</a> /
          </p>
        )}
        <div class="page-title">
          <h1 tabIndex={-1}>{title}</h1>
          {badge}
          {note !== undefined && <span class="soft">{note}</span>}
          <div ref={pageActions} class="page-actions">
            {actions}
            {curl !== undefined && <AsCurl requests={curl} command={command} />}
          </div>
        </div>
        {below}
      </div>
      {children}
      {record !== undefined && <RawJson record={record} />}
    </>
  )
}

/** What stands in place of the credential, by the API that is asked. */
const hints = () => [
  { base: '/api/v1', hint: common.asCurlHint },
  { base: '/operator/v1', hint: common.asCurlOperatorHint },
  { base: '/me/v1', hint: common.asCurlPerson },
]

const isForOperators = ({ base }: ApiRequest) => base === '/operator/v1'

/** Where programs reach a request: the API of operators listens on an address of its own, by default this one. */
const originOf = (request: ApiRequest) => (isForOperators(request) ? 'http://127.0.0.1:9090' : location.origin)

/** A record that cannot be shown: the page that lists its kind is above it. */
export function RecordError({ error, crumb, onRetry }: { error: ApiError; crumb: Crumb; onRetry: () => void }) {
  return (
    <Page title={describe(error).title} crumb={crumb}>
      <ErrorCard error={error} title={error.message || describe(error).hint} onRetry={onRetry} />
    </Page>
  )
}

/** What this page asks the server, for programs. */
function AsCurl({ requests, command }: { requests: readonly ApiRequest[]; command?: string }) {
  const [isOpen, setOpen] = useState(false)
  const text = requests.map((request) => curlOf(request, originOf(request))).join('\n\n')
  return (
    <>
      <Button kind="quiet" icon="terminal" onPress={() => setOpen(true)}>
        <span class="wide-word">{common.asCurl}</span>
      </Button>
      {isOpen && (
        <Dialog
          title={common.asCurlTitle}
          isWide
          onClose={() => setOpen(false)}
          foot={<CurlFoot text={text} onClose={() => setOpen(false)} />}
        >
          {hints()
            .filter(({ base }) => requests.some((one) => (one.base ?? '/api/v1') === base))
            .map(({ base, hint }) => (
              <p key={base} class="soft">
                {hint}
              </p>
            ))}
          <pre class="code-block">{text}</pre>
          {command !== undefined && (
            <>
              <p class="soft">{common.asCommand}</p>
              <pre class="code-block">{command}</pre>
            </>
          )}
        </Dialog>
      )}
    </>
  )
}

function CurlFoot({ text, onClose }: { text: string; onClose: () => void }) {
  return (
    <>
      <CopyButton text={text} />
      <Button onPress={onClose}>{common.close}</Button>
    </>
  )
}

/** The tab of an address; the first one when there is none with that name. */
export function tabOf<T extends string>(tabs: Readonly<Record<T, unknown>>, name: string | undefined): T {
  const names = Object.keys(tabs) as T[]
  return names.find((one) => one === name) ?? names[0]!
}

interface Tab {
  href: string
  label: string
  name: string
}

/** More tabs take several lines of a phone, where a menu stands for them. */
const PHONE_TABS = 4

/** Parts of one record, each with its own address. */
export function Tabs({ label, tabs, current }: { label: string; tabs: readonly Tab[]; current: string }) {
  const nav = useRef<HTMLElement>(null)
  // On a phone the current one may be outside.
  useEffect(() => {
    const open = nav.current!.querySelector('[aria-current]')
    if (nav.current!.scrollWidth > nav.current!.clientWidth)
      open?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current])
  const isMany = tabs.length > PHONE_TABS
  return (
    <nav ref={nav} class={isMany ? 'tabs many' : 'tabs'} aria-label={label}>
      {isMany && <TabsMenu tabs={tabs} current={current} />}
      {tabs.map((tab) => (
        <a key={tab.name} class="tab" href={tab.href} aria-current={tab.name === current ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  )
}

function TabsMenu({ tabs, current }: { tabs: readonly Tab[]; current: string }) {
  const items = tabs.map(({ href, label, name }) => ({ href, label, isChosen: name === current }))
  return (
    <Menu class="button tabs-menu" items={items}>
      <span class="cut">{tabs.find(({ name }) => name === current)?.label}</span>
      <Icon name="chevron-down" />
    </Menu>
  )
}

/** A part of a page with its own heading. */
export function Section({
  title,
  actions,
  note,
  children,
}: {
  title: string
  actions?: ComponentChildren
  note?: string
  children: ComponentChildren
}) {
  return (
    <section class="stack">
      <div class="row wide wrap">
        <div>
          <h2>{title}</h2>
          {note !== undefined && <p class="soft meta">{note}</p>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </div>
      {children}
    </section>
  )
}
