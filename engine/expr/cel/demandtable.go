package cel

// What is declared of the overloads of the libraries. A library that gets new
// ones is not used until they are declared here: NewEnv fails.
var (
	addedDemand  = &demand{need: added, instead: join}
	summedDemand = &demand{need: summed}
	memberDemand = &demand{need: memberOf}
	keyDemand    = &demand{need: looked} // also of a call that is put around a key
)

// catalogue are the overloads of the libraries by what is declared of them.
var catalogue = map[*demand][]string{
	addedDemand: {
		"add_string", "add_bytes", "add_list",
	},
	{need: replaced}: {
		"string_replace_string_string", "string_replace_string_string_int",
	},
	{need: cut}: {
		"string_split_string", "string_split_string_int",
	},
	{need: joinedText}: {
		"list_join", "list_join_string",
	},
	{need: formatted}: {
		"string_format",
	},
	{need: searched}: {
		"string_index_of_string", "string_index_of_string_int", "string_last_index_of_string", "string_last_index_of_string_int",
		"list_a_index_of_int", "list_a_last_index_of_int",
	},
	{need: mapped}: {
		"string_lower_ascii", "string_upper_ascii", "string_trim", "string_substring_int", "string_substring_int_int",
		"string_char_at_int",
	},
	{need: quoted}: {
		"strings_quote",
	},
	{need: converted}: {
		"bytes_to_string", "string_to_bytes",
	},
	{need: digits}: {
		"string_to_quantity", "is_quantity_string",
	},
	{need: parsed(48, charactersPerUnit/3)}: {
		"string_to_semver", "string_bool_to_semver", "is_semver_string", "is_semver_string_bool",
	},
	{need: held}: {
		"semver_compare_to", "semver_is_greater_than", "semver_is_less_than", "quantity_compare_to", "quantity_is_greater_than",
		"quantity_is_less_than", "quantity_add", "quantity_add_int", "quantity_sub", "quantity_sub_int", "quantity_sign",
		"quantity_is_integer", "quantity_get_int", "quantity_get_float",
	},
	{need: parsed(1, charactersPerUnit)}: {
		"string_to_ip", "is_ip", "ip_is_canonical", "string_to_cidr", "is_cidr", "cidr_contains_cidr_string",
	},
	{need: parsed(1, charactersPerUnit), instead: noAddress}: {
		"cidr_contains_ip_string",
	},
	{need: parsed(4, charactersPerUnit)}: {
		"string_to_url", "is_url_string",
	},
	{need: query}: {
		"url_get_query",
	},
	{need: path}: {
		"url_get_escaped_path", "url_get_host", "url_get_hostname", "url_get_port",
	},
	{need: validated}: {
		"format-validate",
	},
	{need: matched, pattern: true}: {
		"matches", "matches_string", "string_find_string",
	},
	{need: foundAll, pattern: true}: {
		"string_find_all_string", "string_find_all_string_int",
	},
	{need: relisted}: {
		"list_reverse", "list_slice", "optional_unwrap", "optional_unwrapOpt",
	},
	{need: ranged}: {
		"lists_range",
	},
	{need: flattened}: {
		"list_flatten", "list_flatten_int",
	},
	{need: distinctNeed, instead: distinct}: {
		"list_distinct",
	},
	{need: setsNeed, instead: setsContain}: {
		"list_sets_contains_list",
	},
	{need: setsNeed, instead: setsEqual}: {
		"list_sets_equivalent_list",
	},
	{need: setsNeed, instead: setsIntersect}: {
		"list_sets_intersects_list",
	},
	{need: sorted}: {
		"list_bool_sortByAssociatedKeys", "list_bytes_sortByAssociatedKeys", "list_double_sortByAssociatedKeys",
		"list_google.protobuf.Duration_sortByAssociatedKeys", "list_google.protobuf.Timestamp_sortByAssociatedKeys",
		"list_int_sortByAssociatedKeys", "list_string_sortByAssociatedKeys", "list_uint_sortByAssociatedKeys", "list_bool_sort",
		"list_bytes_sort", "list_double_sort", "list_google.protobuf.Duration_sort", "list_google.protobuf.Timestamp_sort",
		"list_int_sort", "list_string_sort", "list_uint_sort",
	},
	summedDemand: {
		"list_bool_is_sorted_bool", "list_bytes_is_sorted_bool", "list_double_is_sorted_bool", "list_duration_is_sorted_bool",
		"list_int_is_sorted_bool", "list_string_is_sorted_bool", "list_timestamp_is_sorted_bool", "list_uint_is_sorted_bool",
		"list_bool_max_bool", "list_bytes_max_bytes", "list_double_max_double", "list_duration_max_duration", "list_int_max_int",
		"list_string_max_string", "list_timestamp_max_timestamp", "list_uint_max_uint", "list_bool_min_bool", "list_bytes_min_bytes",
		"list_double_min_double", "list_duration_min_duration", "list_int_min_int", "list_string_min_string",
		"list_timestamp_min_timestamp", "list_uint_min_uint", "list_double_sum_double", "list_duration_sum_duration",
		"list_int_sum_int", "list_uint_sum_uint", "math_@max_list_double", "math_@max_list_int", "math_@max_list_uint",
		"math_@min_list_double", "math_@min_list_int", "math_@min_list_uint",
	},
	{need: compared}: {
		"equals", "not_equals",
	},
	memberDemand: {
		"in_list", "in_map",
	},
	{need: included}: {
		"list_includes_dyn_dyn",
	},
	{need: inserted}: {
		"@mapInsert_map_map", "@mapInsert_map_key_value",
	},
	{need: contained}: {
		"contains_string", "size_string", "string_size", "size_bytes", "bytes_size",
	},
	{need: scanned}: {
		"starts_with_string", "ends_with_string",
		"less_equals_bytes", "less_equals_string", "less_bytes", "less_string", "greater_equals_bytes",
		"greater_equals_string", "greater_bytes", "greater_string",
	},
	keyDemand: {
		"format-named",
	},
	{need: interpreted}: {
		"string_to_int64", "string_to_uint64", "string_to_double", "string_to_bool", "string_to_duration", "string_to_timestamp",
	},
	localDemand("getDate"):         {"timestamp_to_day_of_month_1_based_with_tz"},
	localDemand("getDayOfMonth"):   {"timestamp_to_day_of_month_with_tz"},
	localDemand("getDayOfWeek"):    {"timestamp_to_day_of_week_with_tz"},
	localDemand("getDayOfYear"):    {"timestamp_to_day_of_year_with_tz"},
	localDemand("getFullYear"):     {"timestamp_to_year_with_tz"},
	localDemand("getHours"):        {"timestamp_to_hours_with_tz"},
	localDemand("getMilliseconds"): {"timestamp_to_milliseconds_with_tz"},
	localDemand("getMinutes"):      {"timestamp_to_minutes_with_tz"},
	localDemand("getMonth"):        {"timestamp_to_month_with_tz"},
	localDemand("getSeconds"):      {"timestamp_to_seconds_tz"},
	// No more than some bytes and steps, whatever the arguments are.
	small: {
		"logical_not", "negate_double", "negate_int64", "not_strictly_false", "modulo_int64", "modulo_uint64", "logical_and",
		"multiply_double", "multiply_int64", "multiply_uint64", "add_double", "add_duration_duration", "add_duration_timestamp",
		"add_int64", "add_timestamp_duration", "add_uint64", "subtract_double", "subtract_duration_duration", "subtract_int64",
		"subtract_timestamp_duration", "subtract_timestamp_timestamp", "subtract_uint64", "divide_double", "divide_int64",
		"divide_uint64", "less_equals_bool", "less_equals_double", "less_equals_double_int64", "less_equals_double_uint64",
		"less_equals_duration", "less_equals_int64", "less_equals_int64_double", "less_equals_int64_uint64", "less_equals_timestamp",
		"less_equals_uint64", "less_equals_uint64_double", "less_equals_uint64_int64", "less_bool", "less_double", "less_double_int64",
		"less_double_uint64", "less_duration", "less_int64", "less_int64_double", "less_int64_uint64", "less_timestamp", "less_uint64",
		"less_uint64_double", "less_uint64_int64", "greater_equals_bool", "greater_equals_double", "greater_equals_double_int64",
		"greater_equals_double_uint64", "greater_equals_duration", "greater_equals_int64", "greater_equals_int64_double",
		"greater_equals_int64_uint64", "greater_equals_timestamp", "greater_equals_uint64", "greater_equals_uint64_double",
		"greater_equals_uint64_int64", "greater_bool", "greater_double", "greater_double_int64", "greater_double_uint64",
		"greater_duration", "greater_int64", "greater_int64_double", "greater_int64_uint64", "greater_timestamp", "greater_uint64",
		"greater_uint64_double", "greater_uint64_int64", "select_optional_field", "conditional", "list_optindex_optional_int",
		"map_optindex_optional_value", "optional_list_optindex_optional_int", "optional_map_optindex_optional_value", "index_list",
		"index_map", "optional_list_index_int", "optional_map_index_value", "__not_strictly_false__", "logical_or",
		"bool_to_bool", "bytes_to_bytes",
		"cidr_contains_cidr", "cidr_contains_ip_ip", "double_to_double", "int64_to_double", "uint64_to_double",
		"duration_to_duration", "to_dyn", "ip_family", "list_first", "format.byte", "format.date", "format.datetime",
		"format.dns1035Label", "format.dns1035LabelPrefix", "format.dns1123Label", "format.dns1123LabelPrefix",
		"format.dns1123Subdomain", "format.dns1123SubdomainPrefix", "format.labelValue", "format.qualifiedName",
		"format.uri", "format.uuid", "timestamp_to_day_of_month_1_based",
		"timestamp_to_day_of_month", "timestamp_to_day_of_week",
		"timestamp_to_day_of_year", "timestamp_to_year",
		"duration_to_hours", "timestamp_to_hours",
		"duration_to_milliseconds", "timestamp_to_milliseconds", "duration_to_minutes",
		"timestamp_to_minutes", "timestamp_to_month", "url_get_scheme",
		"duration_to_seconds", "timestamp_to_seconds", "optional_hasValue", "double_to_int64",
		"duration_to_int64", "int64_to_int64", "timestamp_to_int64", "uint64_to_int64", "cidr_ip", "ip_is_global_unicast",
		"ip_is_link_local_multicast",
		"ip_is_link_local_unicast", "ip_is_loopback", "ip_is_unspecified", "list_last", "semver_major", "cidr_masked",
		"math_@max_double", "math_@max_double_double", "math_@max_double_int", "math_@max_double_uint", "math_@max_int",
		"math_@max_int_double", "math_@max_int_int", "math_@max_int_uint", "math_@max_uint", "math_@max_uint_double",
		"math_@max_uint_int", "math_@max_uint_uint", "math_@min_double", "math_@min_double_double", "math_@min_double_int",
		"math_@min_double_uint", "math_@min_int", "math_@min_int_double", "math_@min_int_int", "math_@min_int_uint", "math_@min_uint",
		"math_@min_uint_double", "math_@min_uint_int", "math_@min_uint_uint", "math_abs_double", "math_abs_int", "math_abs_uint",
		"math_bitAnd_int_int", "math_bitAnd_uint_uint", "math_bitNot_int_int", "math_bitNot_uint_uint", "math_bitOr_int_int",
		"math_bitOr_uint_uint", "math_bitShiftLeft_int_int", "math_bitShiftLeft_uint_int", "math_bitShiftRight_int_int",
		"math_bitShiftRight_uint_int", "math_bitXor_int_int", "math_bitXor_uint_uint", "math_ceil_double", "math_floor_double",
		"math_isFinite_double", "math_isInf_double", "math_isNaN_double", "math_round_double", "math_sign_double", "math_sign_int",
		"math_sign_uint", "math_sqrt_double", "math_sqrt_int", "math_sqrt_uint", "math_trunc_double", "semver_minor", "optional_none",
		"optional_of", "optional_ofNonZeroValue", "optional_or_optional", "optional_orValue_value", "semver_patch",
		"cidr_prefix_length", "list_size", "map_size", "size_list", "size_map", "bool_to_string", "cidr_to_string",
		"double_to_string", "duration_to_string", "int64_to_string", "ip_to_string", "string_to_string", "timestamp_to_string",
		"uint64_to_string", "int64_to_timestamp", "timestamp_to_timestamp", "type",
		"double_to_uint64", "int64_to_uint64", "uint64_to_uint64", "optional_value",
	},
}
