// The files that come with Temblor, laid into the program by the compiler: a change of a file builds this one again.
#include "shipped_files.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const struct temblor_file files[] = {
    {"bennie-button-tap.ahap", (const char[]){
#embed "../../../Patterns/bennie-button-tap.ahap" suffix(, 0)
     }},
    {"bennie-celebration.ahap", (const char[]){
#embed "../../../Patterns/bennie-celebration.ahap" suffix(, 0)
     }},
    {"bennie-coin-earned.ahap", (const char[]){
#embed "../../../Patterns/bennie-coin-earned.ahap" suffix(, 0)
     }},
    {"bennie-correct-answer.ahap", (const char[]){
#embed "../../../Patterns/bennie-correct-answer.ahap" suffix(, 0)
     }},
    {"bennie-selection-changed.ahap", (const char[]){
#embed "../../../Patterns/bennie-selection-changed.ahap" suffix(, 0)
     }},
    {"bennie-soft-feedback.ahap", (const char[]){
#embed "../../../Patterns/bennie-soft-feedback.ahap" suffix(, 0)
     }},
    {"capacitor_charge.ahap", (const char[]){
#embed "../../../Patterns/capacitor_charge.ahap" suffix(, 0)
     }},
    {"celebration.ahap", (const char[]){
#embed "../../../Patterns/celebration.ahap" suffix(, 0)
     }},
    {"correct-answer.ahap", (const char[]){
#embed "../../../Patterns/correct-answer.ahap" suffix(, 0)
     }},
    {"countdown.ahap", (const char[]){
#embed "../../../Patterns/countdown.ahap" suffix(, 0)
     }},
    {"double-tap.ahap", (const char[]){
#embed "../../../Patterns/double-tap.ahap" suffix(, 0)
     }},
    {"earthquake-simulation.ahap", (const char[]){
#embed "../../../Patterns/earthquake-simulation.ahap" suffix(, 0)
     }},
    {"earthquake-splash.ahap", (const char[]){
#embed "../../../Patterns/earthquake-splash.ahap" suffix(, 0)
     }},
    {"encouragement.ahap", (const char[]){
#embed "../../../Patterns/encouragement.ahap" suffix(, 0)
     }},
    {"error.ahap", (const char[]){
#embed "../../../Patterns/error.ahap" suffix(, 0)
     }},
    {"feedback-correct-answer.ahap", (const char[]){
#embed "../../../Patterns/feedback-correct-answer.ahap" suffix(, 0)
     }},
    {"feedback-wrong-answer.ahap", (const char[]){
#embed "../../../Patterns/feedback-wrong-answer.ahap" suffix(, 0)
     }},
    {"heartbeat.ahap", (const char[]){
#embed "../../../Patterns/heartbeat.ahap" suffix(, 0)
     }},
    {"heavy.ahap", (const char[]){
#embed "../../../Patterns/heavy.ahap" suffix(, 0)
     }},
    {"level-up.ahap", (const char[]){
#embed "../../../Patterns/level-up.ahap" suffix(, 0)
     }},
    {"light.ahap", (const char[]){
#embed "../../../Patterns/light.ahap" suffix(, 0)
     }},
    {"medium.ahap", (const char[]){
#embed "../../../Patterns/medium.ahap" suffix(, 0)
     }},
    {"perfect-score.ahap", (const char[]){
#embed "../../../Patterns/perfect-score.ahap" suffix(, 0)
     }},
    {"pulse.ahap", (const char[]){
#embed "../../../Patterns/pulse.ahap" suffix(, 0)
     }},
    {"rigid.ahap", (const char[]){
#embed "../../../Patterns/rigid.ahap" suffix(, 0)
     }},
    {"selection.ahap", (const char[]){
#embed "../../../Patterns/selection.ahap" suffix(, 0)
     }},
    {"soft.ahap", (const char[]){
#embed "../../../Patterns/soft.ahap" suffix(, 0)
     }},
    {"success.ahap", (const char[]){
#embed "../../../Patterns/success.ahap" suffix(, 0)
     }},
    {"success-rhythm.ahap", (const char[]){
#embed "../../../Patterns/success-rhythm.ahap" suffix(, 0)
     }},
    {"swipe-down.ahap", (const char[]){
#embed "../../../Patterns/swipe-down.ahap" suffix(, 0)
     }},
    {"swipe-heavy.ahap", (const char[]){
#embed "../../../Patterns/swipe-heavy.ahap" suffix(, 0)
     }},
    {"swipe-up.ahap", (const char[]){
#embed "../../../Patterns/swipe-up.ahap" suffix(, 0)
     }},
    {"thud.ahap", (const char[]){
#embed "../../../Patterns/thud.ahap" suffix(, 0)
     }},
    {"trigger-pattern.ahap", (const char[]){
#embed "../../../Patterns/trigger-pattern.ahap" suffix(, 0)
     }},
    {"triple-tap.ahap", (const char[]){
#embed "../../../Patterns/triple-tap.ahap" suffix(, 0)
     }},
    {"warning.ahap", (const char[]){
#embed "../../../Patterns/warning.ahap" suffix(, 0)
     }},
    {"wrong-answer.ahap", (const char[]){
#embed "../../../Patterns/wrong-answer.ahap" suffix(, 0)
     }},
    {0, 0},
};

const struct temblor_file *const temblor_patterns = files;
