// Notifications between threads that work is pending or a mailbox changed. Delivery is best effort: workers also poll every second.

import { BroadcastChannel } from 'node:worker_threads'
import { sha256 } from './secrets.ts'

/**
 * Deliveries, webhook events, sending accounts or outside accounts to process; accounts (mailboxes) that changed, with their numbers as
 * subjects. `remotes` has those of mailboxes to which an outside account was attached. `certificates`: a version came into use or went.
 */
export type NotificationTopic = 'deliver' | 'webhooks' | 'providers' | 'accounts' | 'remotes' | 'certificates'

export interface Notifier {
  /**
   * Notifies the listeners of a topic in every thread of this process, the calling one included.
   * The notifications of one turn of the event loop are sent as one per topic.
   * @param subject number of what changed
   */
  notify(topic: NotificationTopic, subject?: number): void
  /** @returns removes the listener */
  listen(topic: NotificationTopic, run: (subjects: readonly number[]) => void): () => void
  close(): void
}

interface Notification {
  topic: NotificationTopic
  subjects: readonly number[]
}

/** @param folder the data folder: appliances in one process do not receive each other's notifications */
export function openNotifier(folder: string): Notifier {
  const channel = new BroadcastChannel(`mailstead/${sha256(folder).toString('hex').slice(0, 16)}`)
  // An open channel must not keep the process alive.
  channel.unref()
  const listeners = new Map<NotificationTopic, Set<(subjects: readonly number[]) => void>>()
  /** Subjects to send at the end of this turn of the event loop. */
  const pending = new Map<NotificationTopic, Set<number>>()
  let isClosed = false
  const dispatch = ({ topic, subjects }: Notification) => {
    for (const run of listeners.get(topic) ?? []) run(subjects)
  }
  const send = (notification: Notification) => {
    if (isClosed) return
    channel.postMessage(notification)
    // A channel does not receive its own messages.
    if (listeners.has(notification.topic)) queueMicrotask(() => dispatch(notification))
  }
  const sendPending = () => {
    for (const [topic, subjects] of pending) send({ topic: topic, subjects: [...subjects] })
    pending.clear()
  }
  channel.onmessage = (message) => dispatch((message as { data: Notification }).data)
  return {
    notify(topic, subject) {
      // Each notification wakes the other threads: those of one turn go together.
      if (pending.size === 0) queueMicrotask(sendPending)
      const subjects = pending.get(topic) ?? new Set()
      pending.set(topic, subject === undefined ? subjects : subjects.add(subject))
    },
    listen(topic, run) {
      const set = listeners.get(topic) ?? new Set()
      listeners.set(topic, set.add(run))
      return () => {
        set.delete(run)
      }
    },
    close() {
      isClosed = true
      channel.close()
    },
  }
}
