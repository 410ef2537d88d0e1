// Calls to the memory service. Every call has a time limit; a service that does not answer is left alone for a while.

const CALL_MILLISECONDS = 10_000;
// A group of several characters asks several times for one message: after one failure the others go on at once.
const PAUSE_MILLISECONDS = 10_000;
const LONGEST_PAUSE_MILLISECONDS = 60_000;

/** What went wrong: `code` is `unreachable`, `timeout`, `paused`, or the service's own; `status` is 0 without an answer. */
export class ServiceError extends Error {
    constructor(code, { status = 0, detail = '' } = {}) {
        super(detail || code);
        this.code = code;
        this.status = status;
    }
}

export class Service {
    #settings;
    #now;
    #failures = 0;
    #pausedUntil = 0;

    constructor(settings, now = () => Date.now()) {
        this.#settings = settings;
        this.#now = now;
    }

    /** Return the context block for a question. */
    context(body, signal) {
        return this.#patiently(() => this.call('POST', '/v1/context', { body, signal }));
    }

    add(body, { keepalive = false } = {}) {
        return this.#patiently(() => this.call('POST', '/v1/memories', { body, keepalive }));
    }

    removeMessage(userId, sourceId) {
        const query = { user_id: userId, source_id: sourceId };
        return this.#patiently(() => this.call('DELETE', '/v1/memories', { query }));
    }

    eraseChat(owner) {
        return this.call('DELETE', '/v1/memories', { query: owner });
    }

    list(owner, { include, cursor, limit = 20 } = {}) {
        return this.call('GET', '/v1/memories', { query: { ...owner, include, limit, cursor } });
    }

    search(owner, query, include) {
        return this.call('POST', '/v1/memories/search', { body: { ...owner, query, include, limit: 20 } });
    }

    update(id, { user_id }, change) {
        return this.call('PUT', memoryPath(id), { query: { user_id }, body: change });
    }

    forget(id, { user_id }) {
        return this.call('DELETE', memoryPath(id), { query: { user_id } });
    }

    restore(id, { user_id }) {
        return this.call('POST', `${memoryPath(id)}/restore`, { query: { user_id } });
    }

    /** Send one request.
     * @throws {ServiceError} */
    async call(method, path, { body, query, signal, keepalive = false } = {}) {
        const request = this.#request(method, { body, signal, keepalive });
        let answer, content;
        try {
            answer = await fetch(urlOf(this.#settings.address, path, query), request);
            content = await answer.json();
        } catch (error) {
            throw asServiceError(error, answer);
        }
        if (!answer.ok) {
            throw new ServiceError(content?.code ?? 'refused', { status: answer.status, detail: content?.detail });
        }
        return content;
    }

    #request(method, { body, signal, keepalive }) {
        const content = body === undefined ? {} : { body: JSON.stringify(body) };
        const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
        if (this.#settings.key) {
            headers.Authorization = `Bearer ${this.#settings.key}`;
        }
        return {
            method, headers, keepalive, ...content,
            signal: signal ?? AbortSignal.timeout(CALL_MILLISECONDS),
            credentials: 'omit',
            referrerPolicy: 'no-referrer',
        };
    }

    /** Let the service be asked again at once, since its settings changed. */
    endPause() {
        this.#failures = 0;
        this.#pausedUntil = 0;
    }

    async #patiently(call) {
        if (this.#now() < this.#pausedUntil) {
            throw new ServiceError('paused');
        }
        try {
            const content = await call();
            this.#failures = 0;
            return content;
        } catch (error) {
            this.#failures = error.status > 0 && error.status < 500 ? 0 : this.#failures + 1;
            const pause = Math.min(this.#failures * PAUSE_MILLISECONDS, LONGEST_PAUSE_MILLISECONDS);
            this.#pausedUntil = this.#now() + pause;
            throw error;
        }
    }
}

function memoryPath(id) {
    return `/v1/memories/${encodeURIComponent(id)}`;
}

function urlOf(address, path, query = {}) {
    const url = new URL(address.trim().replace(/\/+$/, '') + path);
    for (const [name, value] of Object.entries(query)) {
        if (value !== undefined && value !== null) {
            url.searchParams.set(name, value);
        }
    }
    return url;
}

function asServiceError(error, answer) {
    if (error.name === 'TimeoutError' || error.name === 'AbortError') {
        return new ServiceError('timeout');
    }
    return new ServiceError('unreachable', { status: answer && !answer.ok ? answer.status : 0 });
}
