// The files that come with Temblor, laid into the program by the compiler: a change of a file builds this one again.
#include "shipped_files.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const struct temblor_file files[] = {
    {"phone.json", (const char[]){
#embed "../../../Profiles/phone.json" suffix(, 0)
     }},
    {"speaker.json", (const char[]){
#embed "../../../Profiles/speaker.json" suffix(, 0)
     }},
    {"actronika-hfba121238.json", (const char[]){
#embed "../../../Profiles/actronika-hfba121238.json" suffix(, 0)
     }},
    {"alps-aft14a903a.json", (const char[]){
#embed "../../../Profiles/alps-aft14a903a.json" suffix(, 0)
     }},
    {"aura-ast-2b-4.json", (const char[]){
#embed "../../../Profiles/aura-ast-2b-4.json" suffix(, 0)
     }},
    {"buttkicker-advance.json", (const char[]){
#embed "../../../Profiles/buttkicker-advance.json" suffix(, 0)
     }},
    {"buttkicker-gamer2.json", (const char[]){
#embed "../../../Profiles/buttkicker-gamer2.json" suffix(, 0)
     }},
    {"buttkicker-lfe.json", (const char[]){
#embed "../../../Profiles/buttkicker-lfe.json" suffix(, 0)
     }},
    {"buttkicker-mini-lfe.json", (const char[]){
#embed "../../../Profiles/buttkicker-mini-lfe.json" suffix(, 0)
     }},
    {"clark-aw339.json", (const char[]){
#embed "../../../Profiles/clark-aw339.json" suffix(, 0)
     }},
    {"dayton-bst-1.json", (const char[]){
#embed "../../../Profiles/dayton-bst-1.json" suffix(, 0)
     }},
    {"dayton-bst-300ex.json", (const char[]){
#embed "../../../Profiles/dayton-bst-300ex.json" suffix(, 0)
     }},
    {"dayton-tt25-16.json", (const char[]){
#embed "../../../Profiles/dayton-tt25-16.json" suffix(, 0)
     }},
    {"dayton-tt25-8.json", (const char[]){
#embed "../../../Profiles/dayton-tt25-8.json" suffix(, 0)
     }},
    {"dualsense.json", (const char[]){
#embed "../../../Profiles/dualsense.json" suffix(, 0)
     }},
    {"eai-c-mf.json", (const char[]){
#embed "../../../Profiles/eai-c-mf.json" suffix(, 0)
     }},
    {"visaton-ex60s.json", (const char[]){
#embed "../../../Profiles/visaton-ex60s.json" suffix(, 0)
     }},
    {"vybronics-vg0832013d.json", (const char[]){
#embed "../../../Profiles/vybronics-vg0832013d.json" suffix(, 0)
     }},
    {"vybronics-vg1040003d.json", (const char[]){
#embed "../../../Profiles/vybronics-vg1040003d.json" suffix(, 0)
     }},
    {"vybronics-vg2080001-175h.json", (const char[]){
#embed "../../../Profiles/vybronics-vg2080001-175h.json" suffix(, 0)
     }},
    {"vybronics-vg2230001h.json", (const char[]){
#embed "../../../Profiles/vybronics-vg2230001h.json" suffix(, 0)
     }},
    {"vybronics-vlv101040a.json", (const char[]){
#embed "../../../Profiles/vybronics-vlv101040a.json" suffix(, 0)
     }},
    {"vybronics-vlv281813-65h.json", (const char[]){
#embed "../../../Profiles/vybronics-vlv281813-65h.json" suffix(, 0)
     }},
    {"mpeg.json", (const char[]){
#embed "../../../Profiles/mpeg.json" suffix(, 0)
     }},
    {"meta-quest.json", (const char[]){
#embed "../../../Profiles/meta-quest.json" suffix(, 0)
     }},
    {"pulsar.json", (const char[]){
#embed "../../../Profiles/pulsar.json" suffix(, 0)
     }},
    {"android.json", (const char[]){
#embed "../../../Profiles/android.json" suffix(, 0)
     }},
    {0, 0},
};

const struct temblor_file *const temblor_profiles = files;
