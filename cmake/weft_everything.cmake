# weft::weft, which is every layer but weft::testing and what only some want: weft::store_mysql, which
# needs more than weft does, and weft::realtime_guard, which is a malloc.
get_property(everything GLOBAL PROPERTY weft_layers)
list(REMOVE_ITEM everything testing store_mysql realtime_guard)
weft_layer_targets(everything ${everything})
add_library(weft INTERFACE)
add_library(weft::weft ALIAS weft)
target_link_libraries(weft INTERFACE ${everything})
