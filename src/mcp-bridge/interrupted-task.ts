import type { JsonObject } from '../json/json.ts'

/** A task of A2A v1.0 that nobody is at any more, as one that has failed. */
export const interruptedTask = (task: JsonObject): JsonObject => ({
  ...task,
  status: {
    state: 'TASK_STATE_FAILED',
    timestamp: new Date().toISOString(),
    message: {
      messageId: crypto.randomUUID(),
      ...(typeof task.id === 'string' && { taskId: task.id }),
      ...(typeof task.contextId === 'string' && { contextId: task.contextId }),
      role: 'ROLE_AGENT',
      parts: [{ text: words, mediaType: 'text/plain' }],
    },
  },
})

const words =
  'This host was interrupted while the tool ran: whether it ran to its end is not known. Send the message again.'
