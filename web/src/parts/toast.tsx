// One line at the lower edge that says that something was done, with its undo.

import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

const SHOWN_MS = 6000

interface Toast {
  id: number
  text: string
  shownMs: number
  undo?: { label: string; run: () => void }
}

const toasts = signal<Toast[]>([])
let lastId = 0

/** Says that something was done. Errors stand where they belong, never here alone. @param shownMs with an undo: how long it can be undone */
export function say(text: string, undo?: Toast['undo'], shownMs = SHOWN_MS): void {
  toasts.value = [...toasts.value.slice(-2), { id: ++lastId, text, undo, shownMs }]
}

function remove(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <OneToast key={toast.id} toast={toast} />
      ))}
    </div>
  )
}

function OneToast({ toast }: { toast: Toast }) {
  const [isHeld, setHeld] = useState(false)
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(() => remove(toast.id), toast.shownMs)
    return () => clearTimeout(timer)
  }, [isHeld, toast.id])
  const hold = {
    onPointerEnter: () => setHeld(true),
    onPointerLeave: () => setHeld(false),
    onFocusIn: () => setHeld(true),
    onFocusOut: () => setHeld(false),
  }
  return (
    <div class="toast" {...hold}>
      <Icon name="check" />
      <span>{toast.text}</span>
      {toast.undo !== undefined && (
        <button
          type="button"
          onClick={() => {
            toast.undo!.run()
            remove(toast.id)
          }}
        >
          {toast.undo.label}
        </button>
      )}
    </div>
  )
}
