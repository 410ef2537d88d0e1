// npx eslint extensions/sillytavern
import js from '@eslint/js';
import globals from 'globals';

export default [
    js.configs.recommended,
    {
        languageOptions: { globals: { ...globals.browser, SillyTavern: 'readonly' } },
        rules: {
            complexity: ['error', 10],
            'max-lines': ['error', 400],
            'max-lines-per-function': ['error', 60],
            'no-restricted-properties': ['error',
                { property: 'innerHTML', message: 'Words of a memory are shown as text.' },
                { property: 'outerHTML', message: 'Words of a memory are shown as text.' },
                { property: 'insertAdjacentHTML', message: 'Words of a memory are shown as text.' }],
            'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
        },
    },
];
