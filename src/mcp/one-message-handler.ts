import type { Message, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk'
import { TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors'
import { DefaultRequestHandler, type ServerCallContext, type TaskStore } from '@a2a-js/sdk/server'

/** An A2A server whose tasks are made of one message each: a tool asks nothing back, so that there is nothing to add. */
export class OneMessageHandler extends DefaultRequestHandler {
  readonly #tasks: TaskStore

  constructor(...[card, tasks, ...more]: ConstructorParameters<typeof DefaultRequestHandler>) {
    super(card, tasks, ...more)
    this.#tasks = tasks
  }

  override async sendMessage(request: SendMessageRequest, context: ServerCallContext): Promise<Message | Task> {
    await this.#refuseMore(request, context)
    return super.sendMessage(request, context)
  }

  override async *sendMessageStream(
    request: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    await this.#refuseMore(request, context)
    yield* super.sendMessageStream(request, context)
  }

  async #refuseMore({ message }: SendMessageRequest, context: ServerCallContext): Promise<void> {
    if (!message?.taskId) return
    const task = await this.#tasks.load(message.taskId, context)
    if (task === undefined) throw new TaskNotFoundError(`Task not found: ${message.taskId.slice(0, 100)}`)
    throw new UnsupportedOperationError(
      'A tool takes one message: leave `message.taskId` out, and it is called anew. `contextId` may stay.',
    )
  }
}
