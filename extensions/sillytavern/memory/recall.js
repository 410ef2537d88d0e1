// What is known before an answer is written, in three rungs: the question, its conversation, and a rewritten question.
// The service climbs the first two in one call. The third asks the chat's own model and is off unless somebody wants it.

import { isUsable, rewriteRequest } from './rewriting.js';
import { spokenWords } from './spoken.js';

const MESSAGES_SENT = 40;
const CHARACTERS_A_MESSAGE = 2_000;
// The score from which the service itself takes a step for the last one.
const SURE_SCORE = 0.6;

/** Return what to put into the prompt and why: `{block, memories, rung, code, milliseconds, rewritten, …}`. Never throws.
 *
 * @param chat the messages that the model will see
 * @param {{user: string, agent: string}} owner
 * @param generate asks the chat's model: `generate(systemPrompt, prompt) -> Promise<string>` */
export async function recall(chat, owner, { service, settings, names, generate, now = () => performance.now() }) {
    const started = now();
    const report = { block: '', memories: [], rung: 'none', code: 'empty', tokens: 0, rewritten: '' };
    const spent = { service: 0 };
    const conversation = chat.filter(message => !message.is_system).slice(-MESSAGES_SENT);
    const question = spokenWords(conversation.findLast(message => message.is_user)?.mes, settings.dropDirections);
    const ask = async (body) => {
        const began = now();
        const left = Math.max(1, settings.budgetMilliseconds - spent.service);
        try {
            return await service.context({ ...bodyOf(conversation, owner, { settings, names }), ...body }, AbortSignal.timeout(left));
        } finally {
            spent.service += now() - began;
        }
    };
    if (question) {
        try {
            take(report, await ask({ query: question, turns: settings.useConversation ? settings.turns : 0 }));
            await climbToRewriting(report, { ask, question, conversation, settings, names, generate });
        } catch (error) {
            report.code = report.block ? report.code : error.code ?? 'unreachable';
        }
    }
    return { ...report, question, milliseconds: Math.round(now() - started) };
}

async function climbToRewriting(report, { ask, question, conversation, settings, names, generate }) {
    if (!settings.rewrite || !settings.rewritePrompt.trim() || bestScore(report.memories) >= SURE_SCORE) {
        return;
    }
    const prompt = rewriteRequest(question, conversation, { names, turns: settings.turns });
    const line = await within(settings.rewriteMilliseconds, generate(settings.rewritePrompt, prompt));
    const query = line?.trim() ?? '';
    if (!isUsable(query)) {
        return;
    }
    const answer = await ask({ query, turns: 0 });
    if (bestScore(answer.memories) > bestScore(report.memories)) {
        take(report, answer);
        report.rung = 'rewrite';
        report.rewritten = query;
    }
}

function bestScore(memories) {
    return Math.max(0, ...memories.filter(memory => memory.group === 'relevant').map(memory => memory.score));
}

function take(report, answer) {
    report.block = answer.context;
    report.memories = answer.memories;
    report.rung = answer.query_strategy;
    report.tokens = answer.tokens;
    report.code = answer.context ? 'injected' : 'empty';
}

function bodyOf(conversation, owner, { settings, names }) {
    return {
        user_id: owner.user,
        agent_id: owner.agent,
        messages: conversation.map(message => ({
            ...(message.is_user ? { role: 'user' } : { role: 'assistant', name: message.name || undefined }),
            content: spokenWords(message.mes, settings.dropDirections).slice(0, CHARACTERS_A_MESSAGE),
        })).filter(message => message.content),
        max_tokens: settings.maxTokens,
        top_k: settings.maxMemories,
        min_score: settings.minScore,
        user_name: names.user || undefined,
        char_name: names.character || undefined,
    };
}

/** Return what a promise gives; undefined where it fails or takes too long. */
function within(milliseconds, promise) {
    return new Promise(resolve => {
        const timer = setTimeout(resolve, milliseconds);
        promise.then(resolve, () => resolve(undefined)).finally(() => clearTimeout(timer));
    });
}
